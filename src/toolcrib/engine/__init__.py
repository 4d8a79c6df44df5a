"""The engine: one way in, `settle.settle(call, run)`, from a call to its one durable result.

Here: the effective set, settling, turns, lanes, the gate, redaction and bounding, runs and recovery.
Not here: any tool, store, asker, hook or wire format; those are plug-ins behind `ports`.
"""
