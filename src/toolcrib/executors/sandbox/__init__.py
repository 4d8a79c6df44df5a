"""The sandbox: what the operating system enforces around a command, whatever rules and people have said.

Here: bubblewrap (namespaces) and Landlock with a system call filter, which of them a machine has, and a self-test that
tries to escape. Not here: whether a command may run at all (`policy`), how it is run (`executors.process`).
"""
