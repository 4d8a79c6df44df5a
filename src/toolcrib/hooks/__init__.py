"""Hooks: watchers around calls and other occasions that may veto, never change.

Here: hooks given in Python (`python`), those that an operator declares (`declared`) and the ways these run: `command`,
`http`, `function`. Not here: hooks.json itself (`config.hooks`), and who asks hooks when (`engine.watchers`).
"""
