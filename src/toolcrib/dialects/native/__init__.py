"""Dialects of provider interfaces with tools of their own: one file per interface, all with the same functions.

`advertise` lists tools, `choose` says which may be called, `read` and `Stream` read answers, `answer` writes results
and `events` streams an answer out. Sending anything is not done here.
"""
