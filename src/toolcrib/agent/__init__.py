"""Agents: their definitions, and what runs them.

Here: reading definitions from YAML and markdown (`definitions`) into typed values. Nothing here decides about tools:
a definition narrows what policy and modes give, and the engine does the narrowing.
"""
