"""Trust: which content of a project its user has looked at and lets act, by the hash of every byte of it.

Here: reading that content once, so that what is hashed is what is used, and the book in the home folder that says what
is trusted. Not here: what the content means (`agent`, `sources`), or who may change the book: an operator alone, since
no grant and no mode covers the home and the `toolcrib` command is never pre-approved.

The book is a file of the home rather than a table of the store: it has to be read before a store is opened, by
commands that open none, and an operator must be able to read it, copy it and take entries out with an editor.
"""

from toolcrib.trust.book import Entry, TrustBook, Untrusted
from toolcrib.trust.content import FOLDER, Content, TrustError, read_content

__all__ = ["FOLDER", "Content", "Entry", "TrustBook", "TrustError", "Untrusted", "read_content"]
