"""The default store: one SQLite file in WAL mode, one writer with group commit, readers that never block it.

Here: opening and migrating the file, the transaction, the writer, reads, leases, verification, erasure.
Not here: the hash chain and the shared SQL (`stores.chain`, `stores.statements`), artifact files (`stores.artifacts`).
"""

from toolcrib.stores.sqlite.connection import Durability
from toolcrib.stores.sqlite.store import SqliteStore

__all__ = ["Durability", "SqliteStore"]
