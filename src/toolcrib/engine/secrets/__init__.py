"""The rule set of redaction: what a secret looks like, where its value begins and where it ends.

Pure functions over UTF-8 bytes, each looking at a bounded window. How rules are run over a text, a JSON value or a
stream is in `scan` and `engine.redact`; nothing here decides what happens to a secret.
"""
