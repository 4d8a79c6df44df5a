"""Toolcrib: the room where an agent's tools are kept, issued, checked and signed for."""

__version__ = "0.1.0"
