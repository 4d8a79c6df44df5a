"""Benchmarks: each prints the numbers that the documentation claims, beside its peers."""
