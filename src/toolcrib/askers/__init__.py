"""Askers: ways to put a question to a person. Each is one async callable from request to decision."""
