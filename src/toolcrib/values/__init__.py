"""The nouns: immutable values that every other room speaks in.

Here: names, schemas, tool specifications, targets, calls, results, refusals, events, identities.
Not here: anything that decides, waits, reads a file or needs a third-party package.
"""
