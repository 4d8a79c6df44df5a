"""What exists: toolsets, toolkits, the registry and the search index. No permissions and no input or output live here."""
