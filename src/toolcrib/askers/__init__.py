"""Askers: ways to put a question to a person. Each is one async callable from request to decision, or the inbox.

Here: the terminal, the one that always denies, what belongs to the inbox outside of the store (who may answer, who
hears of a question), and how a question is written so that nothing in it deceives. Not here: when a question is asked,
and what an answer is worth: that is the gate's.
"""
