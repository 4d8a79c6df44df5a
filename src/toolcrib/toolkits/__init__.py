"""Toolkits that ship with Toolcrib: one module each, with a `TOOLKIT`, named by its key.

Here: which tools a switch is for, its label, and what the prompt says about them. Not here: the tools themselves, with
their audit, allow-list and write guard (toolsets), and who switched what (configuration).
"""
