"""The composition root: configuration in, a running Toolcrib out. Only this room knows both engine and plug-ins.

Here: the crib (`crib`) and what its file and command tools stand on (`hands`). Not here: anything that a call does.
"""
