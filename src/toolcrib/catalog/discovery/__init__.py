"""What a model is shown of the tools it may use, and how it finds the rest.

Here: lines and signatures that cannot break out, shorter schemas, the list that opens a session, activation, answers of
the search tool, and what all of that costs in tokens. Not here: what may run (the effective set decides) and the search
engine itself (`toolcrib.catalog.index`).
"""
