"""Every snippet in README, CONTRIBUTING and docs is played: files are read, commands are run and print
what stands there, Python runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import GENERATED, PAGES, ROOT, Block, blocks_of, commands_of, is_as_shown

from rebalsim.cli.main import code_of

LANGUAGES = {"yaml", "console", "python", "sh", "text", "toml", "properties"}
NAMED = [page for page in PAGES if page.name not in GENERATED]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to play a page in; the stories that come with rebalsim are there."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    yield tmp_path


def write(folder: Path, block: Block) -> None:
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.body, encoding="utf-8")


def play(block: Block, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands_of(block):
        capsys.readouterr()
        code = code_of(list(command.args))
        told = capsys.readouterr()
        where = f"{page.name}:{block.line}: rebalsim {' '.join(command.args)}"
        assert code == command.ends_with, f"{where} ends with {code}\n{told.out}{told.err}"
        assert is_as_shown(told.out, command.printed), f"{where} prints\n{told.out}"


def run(block: Block) -> None:
    names: dict[str, object] = {}
    exec(compile(block.body, f"line {block.line}", "exec"), names)
    for name, found in names.items():
        if name.startswith("test_") and callable(found):
            found()


def played(page: Path, folder: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """The page's blocks in order; `kind`: which of them take part ("" the ordinary ones)."""
    for block in blocks_of(page):
        if block.language in ("yaml", "properties", "toml") and block.file:
            write(folder, block)
        asked = next((word for word in ("slow", "spark") if word in block.words), "")
        if asked != kind:
            continue
        if block.language == "console":
            play(block, page, capsys)
        elif block.language == "python":
            run(block)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page.parent.name == "docs" else [])
        for page in NAMED
    ],
    ids=lambda page: page.stem,
)
def test_what_a_page_shows_is_so(
    page: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played(page, folder, capsys, "")


@pytest.mark.soak
@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.stem)
def test_what_takes_minutes_is_so_too(
    page: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played(page, folder, capsys, "slow")


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.stem)
def test_every_block_says_what_it_is(page: Path) -> None:
    wrong = [
        f"line {block.line}"
        for block in blocks_of(page)
        if block.language not in LANGUAGES
        or (block.language == "yaml" and not block.file and "part" not in block.words)
        or (block.language == "sh" and re.search(r"^\s*\$? ?rebalsim ", block.body, re.M))
    ]
    assert wrong == [], f"{page.name}: tests/docs/pages.py says how a block is marked"


@pytest.mark.parametrize("page", [*NAMED, *PAGES[-1:]], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    gone = [
        link
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert gone == []


def test_the_readme_can_be_read_in_five_minutes() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 180 and max(map(len, lines)) <= 120


def test_the_index_of_pages_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    missing = [p.name for p in (ROOT / "docs").glob("*.md") if f"({p.name})" not in index]
    assert missing in ([], ["README.md"])
