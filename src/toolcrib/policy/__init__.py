"""Pure decisions: verdicts, rules, grants, limits, contracts.

Everything here is a function of values: no I/O, no clock of its own, no registry.
`engine/` is where policy meets tools.
"""
