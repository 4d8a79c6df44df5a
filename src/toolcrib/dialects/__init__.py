"""Dialects: how tools, calls and results are written for one model or provider. No engine, no store."""
