"""Who may import whom: the layers, the bans that order alone does not give, and who may touch
the world outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from code_of_rebalsim import (
    DOOR_MATS,
    LAYERS,
    PACKAGE,
    ROOMS,
    Module,
    imports,
    in_rooms,
    modules,
    room_of,
    unplaced,
)

HEIGHT = {room: height for height, layer in enumerate(LAYERS) for room in layer}

# room → rooms that it must not import though they lie below it, and why
BANS: dict[str, dict[str, str]] = {
    "analysis": {
        "scenario": "analysis works on traces from real logs too, where there is no scenario",
        "assignors": "analysis works on traces from real logs too, where nobody can be asked to "
        "assign",
    },
    "reports": {
        "scenario": "reports tell a value; what they need of the scenario is in the trace's header",
        "protocol": "reports tell a value, however it came about",
        "assignors": "reports compute nothing",
    },
    "simulation": {"analysis": "what happens must not depend on what it means"},
    "protocol": {
        "assignors": "an assignor is passed in",
        "scenario": "the rules know settings, not stories",
        "analysis": "rules have no hindsight",
    },
    "one_run": {"reports": "a run is a value; telling it is another matter"},
    "lint": {"trace": "lint judges what is written, before anything happens"},
}
# package → rooms (or files) that may import it
ONLY_IN: dict[str, tuple[str, ...]] = {
    "simpy": ("simulation", "proof"),
    "click": ("cli",),
    "rich": ("cli", "rebalsim.reports.to_terminal", "rebalsim.reports.sweep_to_terminal"),
    "yaml": ("scenario", "worlds"),
    "pydantic": (),
    "pyspark": ("spark",),
    "pyarrow": ("spark",),
    "py4j": ("spark",),
}
# stdlib modules that a room must not import, and why
NOT_IN: dict[str, dict[str, str]] = {
    "protocol": {"random": "chance is the simulation's"},
    "assignors": {"random": "an assignor is a pure function"},
    "analysis": {"random": "a trace means the same each time"},
    "reports": {"random": "a report says the same each time"},
    "simulation": {"json": "files and formats are trace's and the reports'"},
}
OPEN_FILES = (
    "outside",
    "rebalsim.scenario.load",
    "rebalsim.trace.jsonl",
    "rebalsim.trace.gzipped",
    "rebalsim.worlds.logs.sources",
    "rebalsim.check.find",
    "rebalsim.worlds.files",
    "rebalsim.pytest_plugin",
    "verify",
    "proof",
    "spark",
    "cli",
    "rebalsim.__main__",
)
_OPENING = ("open", "read_text", "write_text", "read_bytes", "write_bytes")


def test_every_room_is_placed_and_every_place_is_a_room() -> None:
    assert unplaced() == (), (
        f"{', '.join(unplaced())}: place it in LAYERS (code_of_rebalsim.py) and in the README's map"
    )
    assert len(ROOMS) == len(set(ROOMS))


def test_every_room_says_what_it_is_for() -> None:
    for room in ROOMS:
        path = (
            PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
        )
        if path.exists():
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), (
                f"{room}: say in {path.name} what lives here and what does not"
            )


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_below(room: str) -> None:
    wrong = [
        f"{module.place(node)} imports {imported}: {_why(room, target)}"
        for module in in_rooms(room)
        for node, imported in imports(module)
        if (target := room_of(imported))
        and target != room
        and (HEIGHT.get(target, 99) >= HEIGHT[room] or target in BANS.get(room, {}))
    ]
    assert wrong == []


def _why(room: str, target: str) -> str:
    if target in BANS.get(room, {}):
        return BANS[room][target]
    return (
        f"{target} is {'beside' if HEIGHT.get(target) == HEIGHT[room] else 'above'} {room}; move "
        "what is shared down, or pass it in"
    )


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_used_only_where_it_belongs(package: str) -> None:
    wrong = [
        f"{module.place(node)} imports {imported}: {package} belongs to "
        f"{' and '.join(ONLY_IN[package])}"
        for module in modules()
        for node, imported in imports(module)
        if imported.split(".")[0] == package
        and module.room not in ONLY_IN[package]
        and module.name not in ONLY_IN[package]
    ]
    assert wrong == []


@pytest.mark.parametrize("room", NOT_IN)
def test_what_a_room_has_no_business_with(room: str) -> None:
    wrong = [
        f"{module.place(node)} imports {imported}: {NOT_IN[room][imported.split('.')[0]]}"
        for module in in_rooms(room)
        for node, imported in imports(module)
        if imported.split(".")[0] in NOT_IN[room]
    ]
    assert wrong == []


def test_only_the_door_prints_and_exits() -> None:
    wrong = []
    for module in modules():
        if module.room in ("cli", "__main__"):
            continue
        for call in (n for n in _outside_of_main(module.tree) if isinstance(n, ast.Call)):
            name = ast.unparse(call.func)
            if name in (
                "print",
                "exit",
                "quit",
                "sys.exit",
                "os._exit",
                "sys.stdout.write",
                "sys.stderr.write",
                "click.echo",
            ):
                wrong.append(
                    f"{module.place(call)}: {name}() — return the text, and let cli print it"
                )
    assert wrong == []


def _outside_of_main(tree: ast.Module) -> Iterator[ast.AST]:
    """Everything but what runs when a file is started by itself (`if __name__ == "__main__":`):
    that is a door, too.
    """
    for statement in tree.body:
        if not (isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)):
            yield from ast.walk(statement)


def test_only_both_ends_open_files() -> None:
    wrong = [
        f"{module.place(call)}: {ast.unparse(call.func)}() — take the text as an argument; only "
        f"{', '.join(OPEN_FILES)} open files"
        for module in modules()
        if module.room not in OPEN_FILES and module.name not in OPEN_FILES
        for call in _openings(module)
    ]
    assert wrong == []


def _openings(module: Module) -> Iterator[ast.Call]:
    for node in (n for n in ast.walk(module.tree) if isinstance(n, ast.Call)):
        is_method = (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _OPENING
            and not _is_ours(ast.unparse(node.func.value))
        )
        if is_method or (isinstance(node.func, ast.Name) and node.func.id == "open"):
            yield node


def _is_ours(opened: str) -> bool:
    """An object of our own, or what ships inside the package: no file of the user's."""
    return opened in ("self", "cls") or opened.startswith(
        ("resources.files(", "importlib.resources.files(")
    )


def test_nobody_imports_the_door() -> None:
    wrong = [
        f"{module.place(node)} imports {imported}"
        for module in modules()
        if module.room not in ("cli", *DOOR_MATS)
        for node, imported in imports(module)
        if room_of(imported) == "cli"
    ]
    assert wrong == []


def test_the_check_finds_what_it_looks_for() -> None:
    """A room that imports upwards, a print, an opened file: the tests above would see them."""
    tree = ast.parse(
        "import simpy\nfrom rebalsim.cli import exits\ndef f(p):\n    print(p.read_text())\n"
    )
    module = Module("rebalsim.domain.x", "domain", PACKAGE / "domain" / "x.py", tree, ())
    assert [imported for _, imported in imports(module)] == ["simpy", "rebalsim.cli.exits"]
    assert room_of("rebalsim.cli.exits") == "cli" and HEIGHT["cli"] > HEIGHT["domain"]
    assert len(list(_openings(module))) == 1
