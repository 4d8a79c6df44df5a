"""What exists: toolsets, toolkits, the registry, the search index. No permissions and no I/O live here."""
