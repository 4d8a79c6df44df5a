"""Making much that stays, without passes of the garbage collector over it."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """Without looking for garbage, of which tools and their index make none: on the way to ten thousand of them all
    that the process holds would be walked through twice, and each tool would cost a third more than the first thousand
    did."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
