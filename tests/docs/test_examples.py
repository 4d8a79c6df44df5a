"""Every Python example of the README and the guides runs as it stands, each in an interpreter and a home of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(BLOCK.findall(page.read_text()), 1)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_runs_as_it_stands(example: str, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(example)
    environment = {**os.environ, "TOOLCRIB_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_first_example_of_the_readme_prints_three(tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(BLOCK.findall((ROOT / "README.md").read_text())[0])
    environment = {**os.environ, "TOOLCRIB_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "3"


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_the_tour_walks_through_a_whole_session(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "tour.py"), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "chain intact: True" in done.stdout
    assert "ghp_" not in done.stdout
