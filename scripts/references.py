"""Write the reference pages that are generated from the code: `python scripts/references.py`."""

from pathlib import Path

from toolcrib.values.meaning import reference

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    (ROOT / "docs" / "reference" / "errors.md").write_text(reference())
