"""The AgentDojo replay: what a person is asked when its user tasks are solved, and when its injections are obeyed.

agentdojo lives in an environment of its own (`make .bench/agentdojo`) and gives its suites as JSON (`export.py`). Here
they become tools (`tools.py`) whose calls go through the counter under the shipped policy (`replay.py`).
"""
