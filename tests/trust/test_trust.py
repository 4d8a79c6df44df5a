"""Trust in project content: exact, by every byte, revocable, and never by accident."""

import os
from pathlib import Path

import pytest

from toolcrib.trust import TrustBook, TrustError, Untrusted, read_content


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".toolcrib" / "agents").mkdir(parents=True)
    (folder / ".toolcrib" / "agents" / "helper.md").write_text("---\nid: helper\n---\n")
    (folder / ".toolcrib" / "hooks.json").write_text("{}")
    return folder


@pytest.fixture
def book(tmp_path: Path) -> TrustBook:
    return TrustBook(tmp_path / "home" / "trust.json")


def trust(book: TrustBook, project: Path) -> None:
    book.trust(read_content(project), "anna", 1.0)


def test_nothing_is_trusted_until_somebody_says_so(book: TrustBook, project: Path) -> None:
    with pytest.raises(Untrusted, match="is not trusted; look at what it holds, then `toolcrib trust"):
        book.require(read_content(project))
    assert book.entries() == ()


def test_what_was_trusted_is_handed_out_as_the_very_bytes_that_were_hashed(book: TrustBook, project: Path) -> None:
    trust(book, project)
    content = read_content(project)
    (project / ".toolcrib" / "agents" / "helper.md").write_text("something else")
    assert book.require(content).below(".toolcrib/agents") == {"helper.md": b"---\nid: helper\n---\n"}


CHANGES = {
    "one byte more": lambda p: (p / ".toolcrib/hooks.json").write_text("{ }"),
    "a file added": lambda p: (p / ".toolcrib/agents/new.md").write_text(""),
    "a file gone": lambda p: (p / ".toolcrib/hooks.json").unlink(),
    "a file renamed": lambda p: (p / ".toolcrib/hooks.json").rename(p / ".toolcrib/tools.json"),
    "a file swapped with another": lambda p: (
        (p / ".toolcrib/hooks.json").write_text("---\nid: helper\n---\n"),
        (p / ".toolcrib/agents/helper.md").write_text("{}"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_makes_all_of_it_untrusted_again_and_says_what_changed(
    change: str, book: TrustBook, project: Path
) -> None:
    trust(book, project)
    CHANGES[change](project)
    with pytest.raises(Untrusted, match=r"is not what was trusted on 1970-01-01: .*(changed|new|gone)"):
        book.require(read_content(project))


def test_changing_it_back_makes_it_trusted_again(book: TrustBook, project: Path) -> None:
    trust(book, project)
    hooks = project / ".toolcrib" / "hooks.json"
    hooks.write_text("[]")
    hooks.write_text("{}")
    assert book.require(read_content(project)).path == os.path.realpath(project)


def test_the_same_bytes_elsewhere_are_not_trusted(book: TrustBook, project: Path, tmp_path: Path) -> None:
    trust(book, project)
    project.rename(tmp_path / "moved")
    with pytest.raises(Untrusted):
        book.require(read_content(tmp_path / "moved"))


def test_trust_can_be_taken_back(book: TrustBook, project: Path) -> None:
    trust(book, project)
    gone = book.revoke(os.path.realpath(project))
    assert gone is not None
    assert gone.by == "anna"
    assert book.revoke(os.path.realpath(project)) is None
    with pytest.raises(Untrusted):
        book.require(read_content(project))


def test_a_single_file_can_be_trusted_by_its_content(book: TrustBook, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("print(1)")
    book.trust(read_content(script), "anna", 1.0)
    assert book.require(read_content(script)).files == {"server.py": b"print(1)"}
    script.write_text("print(2)")
    with pytest.raises(Untrusted, match=r"server\.py changed"):
        book.require(read_content(script))


def test_a_project_without_content_has_none(tmp_path: Path) -> None:
    assert read_content(tmp_path).files == {}


def link(project: Path) -> None:
    (project / ".toolcrib" / "agents" / "linked.md").symlink_to("/etc/passwd")


def linked_folder(project: Path) -> None:
    (project / ".toolcrib").rename(project / "elsewhere")
    (project / ".toolcrib").symlink_to(project / "elsewhere")


def pipe(project: Path) -> None:
    os.mkfifo(project / ".toolcrib" / "pipe")


def large(project: Path) -> None:
    (project / ".toolcrib" / "large").write_bytes(b"x" * (17 << 20))


@pytest.mark.parametrize("content", [link, linked_folder, pipe, large], ids=lambda each: each.__name__)
def test_content_that_cannot_be_held_to_its_bytes_is_refused(content, project: Path) -> None:
    content(project)
    with pytest.raises(TrustError, match=r"link|regular file|larger|folder|cannot be read"):
        read_content(project)


BROKEN = {
    "not JSON": "{",
    "another shape": "[]",
    "a later version": '{"version": 2, "trusted": []}',
    "an entry without files": '{"version": 1, "trusted": [{"path": "/p", "by": "a", "at": 1}]}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_book_that_cannot_be_read_trusts_nothing(body: str, book: TrustBook, project: Path) -> None:
    trust(book, project)
    book.file.write_text(body)
    with pytest.raises(TrustError, match="nothing is trusted until that is mended"):
        book.require(read_content(project))


def test_a_book_that_others_can_write_trusts_nothing(book: TrustBook, project: Path) -> None:
    trust(book, project)
    assert book.file.stat().st_mode & 0o777 == 0o600
    book.file.chmod(0o622)
    with pytest.raises(TrustError, match="can be written by others"):
        book.require(read_content(project))
