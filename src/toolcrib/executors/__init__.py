"""Executors: where handlers run. Each takes a `Permit`; none decides anything."""
