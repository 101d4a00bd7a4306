"""The source in figures: what somebody who joins has to read, and where it is hard to read."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebalsim.domain.errors import Missing

PACKAGE = Path(__file__).parents[1]
MOST_BRANCHES = 15
LARGEST = 10
_BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.BoolOp,
    ast.comprehension,
    ast.Assert,
    ast.match_case,
)


@dataclass(frozen=True, slots=True)
class Room:
    """One room: how many files and lines, and its longest file."""

    name: str
    files: int
    lines: int
    longest: int


@dataclass(frozen=True, slots=True)
class House:
    """All figures, at one width."""

    columns: int
    rooms: list[Room]
    file_quartiles: list[int]
    function_quartiles: list[int]
    function_p90: int
    largest_files: list[tuple[int, str]]
    longest_functions: list[tuple[int, str]]
    most_complex: list[tuple[int, str]]
    over_complex: int
    cycles: list[list[str]]

    @property
    def total(self) -> int:
        return sum(room.lines for room in self.rooms)

    def lines(self) -> Iterator[str]:
        """The figures as the command prints them."""
        yield f"{self.total:,} lines at {self.columns} columns"
        for room in self.rooms:
            yield (
                f"  {room.name:12} {room.files:4} files {room.lines:7,} lines, "
                f"the longest {room.longest:,}"
            )
        quartiles = "/".join(str(n) for n in self.file_quartiles)
        yield f"files: quartiles {quartiles} lines; the largest: {_listed(self.largest_files)}"
        quartiles = "/".join(str(n) for n in self.function_quartiles)
        yield (
            f"functions: quartiles {quartiles} lines, p90 {self.function_p90}; "
            f"the longest: {_listed(self.longest_functions)}"
        )
        yield (
            f"{self.over_complex} functions branch more than {MOST_BRANCHES} times; "
            f"the most: {_listed(self.most_complex)}"
        )
        for cycle in self.cycles:
            yield f"import cycle of {len(cycle)}: {', '.join(cycle[:6])}"
        if not self.cycles:
            yield "no import cycle within a room"


def _listed(figures: list[tuple[int, str]]) -> str:
    return ", ".join(f"{name} {figure}" for figure, name in figures)


def measure(columns: int) -> House:
    """Read the whole package as the formatter would break it at this width."""
    sources = _formatted(columns)
    trees = {name: ast.parse(text) for name, text in sources.items()}
    lengths = {name: len(text.splitlines()) for name, text in sources.items()}
    functions = [found for name, tree in trees.items() for found in _functions(name, tree)]
    long = sorted([length for length, _, _ in functions])
    complex_ = sorted([(b, name) for _, b, name in functions if b > MOST_BRANCHES], reverse=True)
    return House(
        columns=columns,
        rooms=_rooms(lengths),
        file_quartiles=[_ranked(sorted(lengths.values()), q) for q in (0.25, 0.5, 0.75)],
        function_quartiles=[_ranked(long, q) for q in (0.25, 0.5, 0.75)],
        function_p90=_ranked(long, 0.9),
        largest_files=sorted([(n, name) for name, n in lengths.items()], reverse=True)[:LARGEST],
        longest_functions=sorted([(n, name) for n, _, name in functions], reverse=True)[:LARGEST],
        most_complex=complex_[:LARGEST],
        over_complex=len(complex_),
        cycles=cycles_within_rooms(trees),
    )


def _name_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _formatted(columns: int) -> dict[str, str]:
    """Each module's text with lines of this width; comments and docstrings stay as they are."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, PACKAGE.name)
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated"]
        done = subprocess.run(
            [*ruff, f"--line-length={columns}", str(copy)], capture_output=True, check=False
        )
        if done.returncode:
            raise Missing("ruff breaks the lines that are counted: pip install -e '.[dev]'")
        return {
            _name_of(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in sorted(copy.rglob("*.py"))
        }


def _ranked(values: list[int], share: float) -> int:
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def _room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or (PACKAGE / parts[-1]).is_dir() else "(top)"


def _rooms(lengths: dict[str, int]) -> list[Room]:
    rooms: dict[str, list[int]] = {}
    for name, length in lengths.items():
        rooms.setdefault(_room_of(name), []).append(length)
    found = [Room(name, len(n), sum(n), max(n)) for name, n in rooms.items()]
    return sorted(found, key=lambda room: -room.lines)


def _functions(module: str, tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Of each function: its lines, in how many ways it branches, and its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            branches = 1 + sum(
                len(part.values) - 1 if isinstance(part, ast.BoolOp) else 1
                for part in ast.walk(node)
                if isinstance(part, _BRANCHES)
            )
            yield (node.end_lineno or 0) - node.lineno + 1, branches, f"{module}:{node.name}"


def cycles_within_rooms(trees: dict[str, ast.Module]) -> list[list[str]]:
    """The modules of one room that import each other in a circle, for the type checker alone or
    not.
    """
    edges = {
        name: {
            target
            for target in _imported(tree, trees)
            if target != name and _room_of(target) == _room_of(name)
        }
        for name, tree in trees.items()
    }
    reach = {name: _reachable(name, edges) for name in edges}
    circles = {
        tuple(sorted(other for other in reach[name] if name in reach[other]))
        for name in edges
        if name in reach[name]
    }
    return [list(circle) for circle in sorted(circles)]


def _imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from [inner if inner in known else node.module][
                    : inner in known or node.module in known
                ]
        elif isinstance(node, ast.Import):
            yield from [alias.name for alias in node.names if alias.name in known]


def _reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(edges[start])
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += edges[name]
    return found
