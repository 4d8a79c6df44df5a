"""What exists: tools made from Python functions, toolsets, and the registry that holds them.

Here: the `tool` decorator, schemas from signatures, validation, toolsets, immutable snapshots, search.
Not here: who may use a tool (policy), how a call runs (engine), tools from elsewhere (sources).
"""
