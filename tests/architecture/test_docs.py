"""What is written about rebalsim is true: commands are documented, the README's map and tables
are those of the code.
"""

from __future__ import annotations

import importlib
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest
from code_of_rebalsim import PACKAGE, ROOMS, ROOT

from rebalsim.cli import exits
from rebalsim.cli.dev.group import DEV
from rebalsim.cli.main import COMMANDS, door

NAMES = [
    (name, module)
    for table in (COMMANDS, DEV)
    for commands in table.values()
    for name, (module, _) in commands.items()
]
README = ROOT / "README.md"
MAP = ROOT / "docs" / "the-house.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
REFERENCE = ROOT / "docs" / "reference.md"


def readme() -> str:
    assert README.exists(), (
        "README.md: not there; it holds what rebalsim is, one screen of output, the map, the "
        "exit codes, the glossary"
    )
    return README.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "module"), NAMES, ids=[name for name, _ in NAMES])
def test_every_command_is_documented_with_an_example(name: str, module: str) -> None:
    command = importlib.import_module(module).command
    assert isinstance(command, click.Command)
    assert command.name == name, f"{module}: the command calls itself {command.name}"
    assert command.help and command.help.strip().split("\n\n")[0].endswith("."), (
        f"{name}: say in a sentence what it does (the docstring)"
    )
    epilog = command.epilog or ""
    assert re.search(r"Examples?:", epilog), f"{name}: give an example (epilog)"
    examples = re.findall(r"rebalsim ([a-z-]+)(?: ([a-z-]+))?", epilog)
    examples = [word for pair in examples for word in pair if word in {n for n, _ in NAMES}]
    assert name in examples, f"{name}: the example shows another command"


@pytest.mark.parametrize(("name", "module"), NAMES, ids=[name for name, _ in NAMES])
def test_every_option_is_explained(name: str, module: str) -> None:
    command = importlib.import_module(module).command
    silent = [
        p.opts[-1]
        for p in command.params
        if isinstance(p, click.Option) and not p.help and not p.hidden
    ]
    assert silent == [], f"{name}: say what {', '.join(silent)} does (help=…)"


def test_the_list_of_commands_says_what_each_does() -> None:
    for heading, commands in (*COMMANDS.items(), *DEV.items()):
        for name, (_, text) in commands.items():
            assert text.endswith("."), f"{name} under {heading}: one line of help is a sentence"
    assert door.epilog and "Example" in door.epilog


def test_the_examples_name_files_that_are_there() -> None:
    for name, module in NAMES:
        epilog = importlib.import_module(module).command.epilog or ""
        for path in re.findall(r"scenarios/[\w/.-]+\.yaml", epilog):
            assert (ROOT / path).exists(), f"{name}: its example names {path}, which is not there"


def test_the_map_names_every_room() -> None:
    there = [
        room for room in ROOMS if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").exists()
    ]
    text = MAP.read_text(encoding="utf-8")
    missing = [
        room
        for room in there
        if not re.search(
            rf"`(?:rebalsim/)?{room}(?:/|\.py)?`|\*\*{room}\*\*|(?:^|[ /]){room}(?:/|\.py)",
            text,
            re.MULTILINE,
        )
    ]
    assert missing == [], f"docs/the-house.md: the map does not name {', '.join(missing)}"


def test_the_table_of_exit_codes_is_that_of_exits() -> None:
    rows = [f"| {code} | {meaning} |" for code, meaning in exits.MEANINGS.items()]
    found = re.findall(r"^\| *(\d+) *\| *(.*?) *\|$", REFERENCE.read_text("utf-8"), re.MULTILINE)
    table = [f"| {code} | {meaning} |" for code, meaning in found if int(code) in exits.MEANINGS]
    expected = "\n".join(rows)
    assert table == rows, f"docs/reference.md: the table of exit codes should be\n{expected}"
    assert [code for code in exits.GRAVITY if code not in exits.MEANINGS] == []


def test_the_readme_names_only_commands_and_files_that_are_there() -> None:
    text = readme()
    known = {n for n, _ in NAMES}
    blocks = "\n".join(re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)) + "\n".join(
        re.findall(r"`(rebalsim [^`]+)`", text)
    )
    wrong = [
        name
        for name in re.findall(r"(?:^|\s|/|-m )rebalsim ([a-z][a-z-]*)\b", blocks)
        if name not in known
    ]
    assert wrong == [], f"README.md: there is no command {', '.join(dict.fromkeys(wrong))}"
    gone = [
        path
        for path in re.findall(r"\bscenarios/[\w/.-]+\.yaml", text)
        if not (ROOT / path).exists()
    ]
    assert gone == [], f"README.md: {', '.join(gone)} is not there"


def test_every_stock_story_loads_and_says_what_it_tells() -> None:
    from rebalsim.scenario.load import load_scenario

    stories = sorted((ROOT / "scenarios").glob("*.yaml"))
    assert stories
    for path in stories:
        story = load_scenario(path)
        assert story.title and story.description, (
            f"{path.name}: give it a title and a description, they are printed"
        )


def test_every_edge_case_of_the_catalogue_has_a_test_named_after_it() -> None:
    """The classic protocol's 52 places where a naive simulator goes wrong: a test's name begins
    with the numbers of those it holds.
    """
    held: set[int] = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for numbers in re.findall(
            r"^def test_(\d\d(?:_and_\d\d)*)_", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            held |= {int(number) for number in numbers.split("_and_")}
    assert held == set(range(1, 53))


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names alone, and takes one for the other."""
    names = sorted(path.name for path in (ROOT / "tests").rglob("*.py"))
    twice = {a for a, b in pairwise(names) if a == b}
    assert twice <= {"conftest.py", "__init__.py"}


@pytest.mark.parametrize("page", [MAP, CONTRIBUTING], ids=lambda page: page.name)
def test_the_places_that_a_page_names_are_there(page: Path) -> None:
    """A file or a folder, by its path from the project's root, from the package, or from a room."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`([a-z][\w.]*/[\w./-]*)`", text)
    roots = (ROOT, page.parent, PACKAGE, *PACKAGE.iterdir())
    gone = [
        name
        for name in named
        if not re.search("[A-Z]{4}", name) and not any((root / name).exists() for root in roots)
    ]
    assert len(named) >= 5 and gone == [], f"{page.name} names what is not there: {gone}"
