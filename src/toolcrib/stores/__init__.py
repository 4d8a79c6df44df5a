"""Where records are kept: the journal, documents and leases behind `ports.Store`, and artifacts on disk.

Here: the hash chain, the SQL every database shares, migrations, one folder per database, artifact files.
Not here: what is recorded and when (the engine decides), nor the in-memory store (`toolcrib.testing`).
"""
