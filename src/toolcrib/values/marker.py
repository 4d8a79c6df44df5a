"""The sign that stands where a secret was."""

from __future__ import annotations

import re

MARKER_START = "[REDACTED:"
MARKER = re.compile(r"\[REDACTED:[a-z0-9_]+\]")
"""File tools refuse a text that holds one, so that no marker ends up in a user's file."""
