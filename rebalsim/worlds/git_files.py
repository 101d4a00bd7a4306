"""Files of a revision, read through `git cat-file` alone: nothing is checked out, no filter and no
hook is run, and the index is not touched.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import PurePosixPath

from rebalsim.domain.errors import InputError
from rebalsim.worlds.files import MOST_FILES, Source, is_settings
from rebalsim.worlds.text_tree import LARGEST

PREFIX = "git:"


def is_revision(path: str) -> bool:
    return path.startswith(PREFIX)


def read_revision(said: str, like: str = ".") -> list[Source]:
    """`git:REV[:PATH]`: the files below a path of a revision; without a path, below `like`."""
    revision, _, path = said.removeprefix(PREFIX).partition(":")
    if not revision or re.search(r"[\s\0]", revision + path) or revision.startswith("-"):
        raise InputError(f"'{said}' names no revision — write git:main or git:main:deploy/")
    inside = path or like
    with _Objects(said) as objects:
        for name in _spellings(revision, inside, bool(path)):
            kind, data = objects.get(name)
            if kind == "blob":
                return [(inside, _text(data))]
            if kind == "tree":
                base = "" if inside in (".", "") else inside.rstrip("/")
                return _below(objects, data, PurePosixPath(base))
    raise InputError(
        f"{said}: git knows no such revision, or it holds no {inside} — `git log` lists "
        "revisions; a path is taken from the repository's root, or from here"
    )


def _spellings(revision: str, path: str, is_from_root: bool) -> list[str]:
    """The names under which git may know a path: from the folder one stands in, from the root."""
    clean = "" if path in (".", "./") else path.removeprefix("./").rstrip("/")
    here, root = f"{revision}:./{clean}", f"{revision}:{clean}"
    return [root, here] if is_from_root else [here, root]


class _Objects:
    """One `git cat-file --batch`, asked object by object."""

    def __init__(self, said: str) -> None:
        try:
            self.process = subprocess.Popen(
                ["git", "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"},
            )
        except OSError as e:
            raise InputError(f"{said}: git cannot be run: {e.strerror} — install git") from None

    def __enter__(self) -> _Objects:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        self.process.wait(timeout=10)

    def get(self, name: str) -> tuple[str, bytes]:
        """The kind and the content of an object; ('', …) where there is none."""
        source, sink = self.process.stdout, self.process.stdin
        assert source is not None and sink is not None
        try:
            sink.write(f"{name}\n".encode())
            sink.flush()
            head = source.readline().decode(errors="replace").split()
        except OSError:
            return "", b""
        if len(head) != 3 or not head[2].isdigit():
            return "", b""
        data = source.read(int(head[2]))
        source.read(1)
        return head[1], data


def _below(objects: _Objects, tree: bytes, base: PurePosixPath) -> list[Source]:
    """Every file of a tree that could hold settings."""
    found: list[Source] = []
    queue = [(base, tree)]
    while queue:
        folder, data = queue.pop(0)
        for mode, name, ident in _entries(data):
            if name.startswith(".") or mode in ("160000", "120000"):
                continue
            kind, inner = (
                ("", b"") if mode != "40000" and not is_settings(name) else objects.get(ident)
            )
            if kind == "tree":
                queue.append((folder / name, inner))
            elif kind == "blob" and len(inner) <= LARGEST and b"\0" not in inner[:8000]:
                found.append((str(folder / name), _text(inner)))
        if len(found) > MOST_FILES:
            raise InputError(
                f"more than {MOST_FILES:,} files — name the folder of the manifests after a colon"
            )
    return sorted(found)


def _entries(tree: bytes) -> list[tuple[str, str, str]]:
    """mode, name and id of each entry of a tree object; ids are 20 or 32 bytes long."""
    found, place = [], 0
    while place < len(tree):
        end = tree.index(b"\0", place)
        mode, _, name = tree[place:end].partition(b" ")
        ident = tree[end + 1 : end + 21]
        found.append((mode.decode(), name.decode(errors="replace"), ident.hex()))
        place = end + 21
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")
