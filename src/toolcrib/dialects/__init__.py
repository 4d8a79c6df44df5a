"""Dialects: how tools, calls and results are written for one model or provider. One file per family; no engine, no store."""
