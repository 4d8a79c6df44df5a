"""House rules that no linter knows: size, docstrings, who imports what, and that the tree stands on its own."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "toolcrib"
MODULES = sorted(SOURCE.rglob("*.py"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MODULE_LINES = 400
FUNCTION_LINES = 60
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported_roots(module: Path) -> set[str]:
    """The top-level names that a module imports; a relative import counts as our own package."""
    roots = set[str]()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add("toolcrib" if node.level else (node.module or "").split(".")[0])
    return roots


def test_no_module_is_longer_than_one_reading() -> None:
    lengths = {place(module): len(module.read_text().splitlines()) for module in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {
        f"{place(module)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for module in MODULES
        for node in functions(module)
    }
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def test_every_package_says_what_lives_in_it() -> None:
    packages = {module.parent for module in MODULES}
    silent = [
        place(package)
        for package in sorted(packages)
        if not (package / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("room", "allowed"),
    [
        ("values", set[str]()),
        ("policy", set[str]()),
        ("catalog", {"jsonschema_rs", "orjson", "pydantic"}),
    ],
)
def test_the_inner_rooms_import_only_the_third_parties_they_may(room: str, allowed: set[str]) -> None:
    known = sys.stdlib_module_names | {"toolcrib"} | allowed
    foreign = {place(module): imported_roots(module) - known for module in (SOURCE / room).rglob("*.py")}
    assert {name: roots for name, roots in foreign.items() if roots} == {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=place)
def test_links_in_documents_lead_to_files_of_this_tree(document: Path) -> None:
    targets = {link: (document.parent / link).resolve() for link in LINK.findall(document.read_text())}
    assert {link for link, target in targets.items() if ROOT not in target.parents or not target.exists()} == set()


def test_no_source_names_the_folder_that_it_was_written_in() -> None:
    sources = [*MODULES, *DOCUMENTS, *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/**/*.py"), ROOT / "Makefile"]
    assert [place(source) for source in sources if f"{ROOT}/" in source.read_text()] == []


def test_no_module_leaves_work_for_later() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
    assert [place(module) for module in MODULES if marks.search(module.read_text())] == []
