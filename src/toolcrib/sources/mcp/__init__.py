"""MCP servers as a source of tools: entries, transports, one keeper per server, and the translation to our nouns.

Nothing here is loaded before a crib has a server to talk to: the protocol's library is heavy.
"""
