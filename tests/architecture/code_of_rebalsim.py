"""rebalsim's own source as trees, for the tests of its architecture: rooms, files, what a file
imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "rebalsim"

# The layer order, written once, low to high. A room imports from rooms below it, never from those
# beside or above it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("domain",),
    ("words",),
    ("outside",),
    ("assignors", "scenario", "trace"),
    ("protocol", "analysis", "worlds"),
    ("connect",),
    ("simulation", "reports", "lint"),
    ("quiet",),
    ("one_run",),
    ("advice",),
    ("incident",),
    ("verify",),
    ("check",),
    ("preview",),
    ("api", "pytest_plugin"),
    ("spark",),
    ("proof",),
    ("cli",),
)
ROOMS = tuple(room for layer in LAYERS for room in layer)
DOOR_MATS = ("__init__", "__main__")  # the package's own two files may import what they offer

# Rooms in which the same scenario and seed must give the same bytes.
CORE = (
    "domain",
    "words",
    "scenario",
    "assignors",
    "trace",
    "protocol",
    "analysis",
    "connect",
    "simulation",
    "quiet",
    "reports",
    "lint",
    "one_run",
    "advice",
)


@dataclass(frozen=True)
class Module:
    """One file: `name` as in `rebalsim.trace.events`, the room it is in, its tree and lines."""

    name: str
    room: str
    path: Path
    tree: ast.Module
    lines: tuple[str, ...]

    def place(self, node: ast.AST) -> str:
        return f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"

    @cached_property
    def imported(self) -> tuple[tuple[ast.AST, str], ...]:
        return tuple(_imported(self))


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        name = ".".join(("rebalsim", *(p for p in parts if p != "__init__")))
        found.append(
            Module(name, parts[0], path, ast.parse(text, str(path)), tuple(text.splitlines()))
        )
    return tuple(found)


def in_rooms(*rooms: str) -> Iterator[Module]:
    for module in modules():
        if module.room in rooms:
            yield module


def imports(module: Module) -> tuple[tuple[ast.AST, str], ...]:
    """Everything that the file imports, wherever in it, by its full name."""
    return module.imported


def _imported(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{module.place(node)}: write the whole name instead of a relative import"
            )
            for alias in node.names:
                yield node, f"{node.module}.{alias.name}"


def room_of(imported: str) -> str | None:
    """The room that an import reaches into; None for what is not ours; "" for the package
    itself.
    """
    parts = imported.split(".")
    if parts[0] != "rebalsim":
        return None
    return parts[1] if len(parts) > 1 and (parts[1] in ROOMS or parts[1] in unplaced()) else ""


@cache
def unplaced() -> tuple[str, ...]:
    """Rooms and files at the top of the package that LAYERS does not know."""
    there = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.rglob("*.py"))} | {
        p.stem for p in PACKAGE.glob("*.py")
    }
    return tuple(sorted(there - {*ROOMS, *DOOR_MATS, "__pycache__"}))
