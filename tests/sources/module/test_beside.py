"""Files beside a module: imported as Python does, from the bytes that were read with it, and part of its digest."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.sources.module import ModuleFile, ModuleProblem, read_module
from toolcrib.sources.module.loading import load

FOLDER = "/home/agents"
FILES = {
    "helper.py": "from dataclasses import dataclass\nWORD = 'helped'\n@dataclass\nclass Point:\n    x: int = 1\n",
    "package/__init__.py": "from .inner import DEPTH\n",
    "package/inner.py": "from . import other\nDEPTH = other.ONE + 1\n",
    "package/other.py": "ONE = 1\nfrom ..helper import WORD\n",
    "circle_a.py": "import circle_b\nA = 1\ndef b(): return circle_b.B\n",
    "circle_b.py": "import circle_a\nB = 2\ndef a(): return circle_a.A\n",
    "json.py": "def dumps(value): return 'mine'\n",
    "loud.py": "raise RuntimeError('no')\n",
    "odd.py": "def (:\n",
}


def read_of(files: Mapping[str, str], main: str) -> ModuleFile:
    texts = {f"{FOLDER}/{name}": text for name, text in {**files, "tools.py": main}.items()}

    def read(path: str) -> bytes:
        if path not in texts:
            raise ModuleProblem(f"there is no file {path}")
        return texts[path].encode()

    return read_module(f"{FOLDER}/tools.py", read)


@pytest.mark.parametrize(
    ("main", "value"),
    [
        ("import helper\nvalue = helper.WORD", "helped"),
        ("import helper as h\nvalue = h.WORD", "helped"),
        ("from helper import WORD as value", "helped"),
        ("from helper import *\nvalue = WORD", "helped"),
        ("from .helper import WORD as value", "helped"),
        ("from . import helper\nvalue = helper.WORD", "helped"),
        ("import helper\nvalue = helper.Point().x", 1),
        ("import package.inner\nvalue = package.inner.DEPTH", 2),
        ("import package.inner as deep\nvalue = deep.DEPTH", 2),
        ("from package import DEPTH as value", 2),
        ("from package import inner\nvalue = inner.other.WORD", "helped"),
        ("from package.inner import DEPTH as value", 2),
        ("import circle_a, circle_b\nvalue = (circle_a.b(), circle_b.a())", (2, 1)),
        ("def late():\n    import helper\n    return helper.WORD\nvalue = late()", "helped"),
        ("import json\nvalue = json.dumps(1)", "mine"),
        ("import os.path\nvalue = os.path.join('a', 'b')", "a/b"),
        ("from collections import abc\nvalue = abc.Mapping.__name__", "Mapping"),
        ("import math as m\nvalue = m.floor(2.5)", 2),
        ("value = __import__('helper').WORD if False else 'no'", "no"),
    ],
)
def test_an_import_finds_the_file_beside_the_module_and_else_what_is_installed(main: str, value: Any) -> None:
    found: Any = load(read_of(FILES, main))
    assert found.value == value


def test_names_of_files_beside_one_module_are_nobody_elses() -> None:
    import json

    load(read_of(FILES, "import json, helper"))
    assert sys.modules["json"] is json
    assert "helper" not in sys.modules
    other: Any = load(read_of({"helper.py": "WORD = 'other'"}, "import helper\nvalue = helper.WORD"))
    first: Any = load(read_of(FILES, "import helper\nvalue = helper.WORD"))
    assert (first.value, other.value) == ("helped", "other")


@pytest.mark.parametrize(
    ("main", "said"),
    [
        ("import nowhere_at_all", "tools.py:1: cannot be loaded: ModuleNotFoundError: No module named"),
        ("from helper import MISSING", "tools.py:1: cannot be loaded: ImportError"),
        ("from ..above import x", "is above the folder of the module"),
        ("\nimport loud", "loud.py:1: cannot be loaded: RuntimeError: no"),
        ("import odd", "odd.py:1: cannot be loaded"),
        ("import package.missing", "No module named 'package.missing'"),
    ],
)
def test_what_cannot_be_imported_is_said_with_its_file_and_line(main: str, said: str) -> None:
    with pytest.raises(ModuleProblem) as caught:
        load(read_of(FILES, main))
    assert said in str(caught.value)


@pytest.mark.parametrize("main", ["import helper", "def f():\n    from package import inner"])
def test_the_digest_covers_what_is_imported_and_nothing_else(main: str) -> None:
    before = read_of(FILES, main).digest
    assert read_of({**FILES, "loud.py": "another"}, main).digest == before
    assert read_of({**FILES, "helper.py": FILES["helper.py"] + "#"}, main).digest != before
    assert ModuleFile("tools.py", main.encode()).digest != before


def test_a_file_that_changes_after_it_was_read_changes_nothing_that_runs() -> None:
    texts = {
        f"{FOLDER}/tools.py": "def late():\n    import helper\n    return helper.WORD",
        f"{FOLDER}/helper.py": "WORD = 1",
    }

    def read(path: str) -> bytes:
        if path not in texts:
            raise ModuleProblem(path)
        return texts[path].encode()

    file = read_module(f"{FOLDER}/tools.py", read)
    texts[f"{FOLDER}/helper.py"] = "WORD = 2"
    found: Any = load(file)
    assert found.late() == 1
