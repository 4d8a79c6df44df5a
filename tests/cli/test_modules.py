"""Tools come from the code that the operator names, or an error says why they do not."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest

from toolcrib.cli.modules import load_tools

TOOL = "from toolcrib import tool\n@tool\ndef add(a: int) -> int:\n    return a\n"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "tools.py has no tools; mark a function with @tool"),
        ("def helper():\n    pass\n", "tools.py has no tools"),
        ("x = 1 +\n", "tools.py cannot be loaded: SyntaxError: invalid syntax"),
        (
            "import nothing_like_it\n",
            "tools.py cannot be loaded: ModuleNotFoundError: No module named 'nothing_like_it'",
        ),
        ("raise SystemExit(3)\n", "tools.py cannot be loaded: SystemExit: 3"),
        ("def f():\n    return 1 / 0\nf()\n", r"ZeroDivisionError: division by zero \(.*tools.py:2\); mend it"),
        ("from toolcrib import tool\n@tool(name='no name')\ndef f(): ...\n", "tools.py has a tool that cannot be used"),
        (
            "from toolcrib import tool\n@tool(nam='x')\ndef f(): ...\n",
            r"unknown option 'nam'; did you mean 'name'\? \(.*tools.py:2\)",
        ),
    ],
)
def test_code_that_cannot_be_used_is_wrong_usage_with_its_place(folder: Path, code: str, problem: str) -> None:
    (folder / "tools.py").write_text(code)
    with pytest.raises(click.UsageError, match=problem):
        load_tools(["tools.py"])


@pytest.mark.parametrize("place", ["tools.py", "./tools.py", "tools", "pack.inner", "pack/inner.py"])
def test_a_file_and_a_module_are_both_places(folder: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pack").mkdir()
    for file in ("tools.py", "pack/__init__.py", "pack/inner.py"):
        (folder / file).write_text(TOOL)
    for name in ("tools", "pack", "pack.inner", "inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert [tool.name for tool in load_tools([place])] == ["add"]


def test_functions_toolsets_tools_and_adapters_of_a_module_are_found_once(folder: Path) -> None:
    code = (
        "from toolcrib import Toolset, ToolsetBuilder, ToolSpec, tool\n"
        "from toolcrib.catalog.decorate import tool_of\n"
        "@tool\ndef one(a: int) -> int:\n    return a\n"
        "again = one\n"
        "build = ToolsetBuilder('kit')\n"
        "@build.read()\ndef two() -> str:\n    return ''\n"
        "kit = build.build()\n"
        "def plain() -> str:\n    return ''\n"
        "three = tool_of(plain)\n"
        "class Adapter:\n"
        "    spec = ToolSpec(name='four', description='', input_schema={'type': 'object'})\n"
        "    async def call(self, context, arguments):\n        return ''\n"
        "four = Adapter()\n"
    )
    (folder / "many.py").write_text(code)
    assert sorted(tool.name for tool in load_tools(["many.py"])) == ["four", "kit.two", "one", "plain"]


def test_a_file_can_import_its_neighbours_but_never_shadows_an_installed_module(folder: Path) -> None:
    (folder / "neighbour.py").write_text("VALUE = 7\n")
    (folder / "json.py").write_text("raise RuntimeError('shadowed')\n")
    (folder / "uses.py").write_text(f"import json, neighbour\n{TOOL}")
    assert [tool.name for tool in load_tools(["uses.py"])] == ["add"]
