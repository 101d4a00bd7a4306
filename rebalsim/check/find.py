"""Which files a check is about: files, folders and patterns → scenarios, in order and each once.
Plans and foreign YAML files are left out.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rebalsim.domain.errors import InputError
from rebalsim.outside.files import first_bytes

_YAML = (".yaml", ".yml")
_HEAD = 256 * 1024  # keys that tell what a file is stand in its first part
_PLAN = re.compile(rb"^axes[ \t]*:", re.MULTILINE)
_KEY = re.compile(rb"^([a-z]+)[ \t]*:", re.MULTILINE)
_MARK = re.compile(rb"^# yaml-language-server:.*rebalsim", re.MULTILINE)
# One such key alone is anybody's: `groups:` heads Prometheus' rules, `topics:` lists of topics,
# `script:` builds. Two of them are ours.
OUR_KEYS = (
    b"topics",
    b"group",
    b"groups",
    b"replay",
    b"budgets",
    b"expect",
    b"horizon",
    b"script",
    b"cluster",
    b"seed",
    b"runs",
    b"title",
)
_NOT_ENTERED = ("node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to check, and what was passed over."""

    files: tuple[str, ...]
    plans: tuple[str, ...]


def kind_of(raw: bytes) -> str:
    """What the text of a YAML file is, told by its top-level keys: `plan`, `scenario`, or
    nothing of ours.
    """
    if _PLAN.search(raw):
        return "plan"
    keys = dict.fromkeys(found for found in _KEY.findall(raw) if found in OUR_KEYS)
    return "scenario" if len(keys) > 1 or _MARK.search(raw) else ""


_TOPICS = re.compile(rb"^topics[ \t]*:(.*?)(?=^[^\s#]|\Z)", re.MULTILINE | re.DOTALL)
_PARTITIONS = re.compile(rb"\bpartitions[ \t]*:")
_SHORT = re.compile(rb":[ \t]*[0-9]+[ \t]*(?:[,}#\n]|\Z)")
_GROUP = re.compile(rb"^groups?[ \t]*:", re.MULTILINE)
_STORY = re.compile(rb"^(?:replay|script|budgets|expect|horizon)[ \t]*:", re.MULTILINE)
OWN_NAMES = (".rebalsim.yaml", ".rebalsim.yml")


def is_surely_scenario(path: Path, raw: bytes, folders: Iterable[Path] = ()) -> bool:
    """Whether it is a scenario beyond doubt, in a project where anybody's YAML lies about: by its
    schema line, its name, a folder that was named for them, or topics with partitions beside a
    group. A broken one is known by the same.
    """
    if _PLAN.search(raw):
        return False
    if _MARK.search(raw) or path.name.endswith(OWN_NAMES):
        return True
    if any(path.is_relative_to(folder) for folder in folders):
        return True
    topics = _TOPICS.search(raw)
    if topics is None or _GROUP.search(raw) is None:
        return False
    return bool(_PARTITIONS.search(topics[1]) or (_SHORT.search(topics[1]) and _STORY.search(raw)))


def head_of(path: Path) -> bytes:
    """The part of a file that tells what it is; nothing where it cannot be read."""
    try:
        return first_bytes(path, _HEAD)
    except InputError:
        return b""


def kind_of_file(path: Path) -> str:
    """What a file is, by the part of it that tells; one that cannot be read is nothing of ours."""
    return kind_of(head_of(path))


def find_files(paths: Iterable[str]) -> Found:
    """Every scenario that the paths mean. A file named outright is taken as a scenario unless it
    is a plan; InputError where there is none.
    """
    files: dict[str, None] = {}
    plans: dict[str, None] = {}
    named = list(paths)
    for name in named:
        for path, is_named in _meant(name):
            kind = kind_of_file(Path(path))
            if kind == "plan":
                plans[path] = None
            elif kind == "scenario" or is_named:
                files[path] = None
    if not files:
        from rebalsim.reports.check_notes import plans_passed_over

        also = f" ({plans_passed_over(len(plans))})" if plans else ""
        raise InputError(
            f"{', '.join(named)}: there is no scenario here{also} — name a scenario file or a "
            "folder that has some; `rebalsim init` writes one"
        )
    return Found(tuple(files), tuple(plans))


def _matching(pattern: str) -> list[str]:
    """What a pattern matches; `**` enters no folder that a walk would not enter."""
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (it may be absolute)
    if "**" not in pattern:
        return found
    return [
        one
        for one in found
        if not any(p.is_symlink() or p.name in _NOT_ENTERED for p in Path(one).parents)
    ]


def _meant(name: str) -> list[tuple[str, bool]]:
    """The paths, and whether each was named outright rather than found."""
    if not name:
        raise InputError(
            "PATH is empty, and names nothing — give a scenario, a folder or a pattern"
        )
    path = Path(name)
    try:
        if path.is_dir():
            return [(str(p), False) for p in _walk(path)]
        if path.exists() or name == "-" or not glob.has_magic(name):
            # what is not there is told by whoever reads it; it may be a stock story
            return [(name, True)]
    except (OSError, ValueError):
        return [(name, True)]
    matched = _matching(name)
    if not matched:
        raise InputError(f"{name}: matches no file — check the pattern, or name a folder")
    return [
        each
        for one in matched
        for each in (_meant(one) if Path(one).is_dir() else [(one, False)])
        if each[0].endswith(_YAML)
    ]


def _walk(folder: Path) -> list[Path]:
    """YAML files in a folder and below, sorted; hidden folders are not entered."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if not path.name.startswith(".") and path.name not in _NOT_ENTERED:
                found += _walk(path)
        elif path.suffix in _YAML and not path.name.startswith("."):
            found.append(path)
    return found
