"""The files that are given, and no others: read as text, binaries and giants left out by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rebalsim.domain.errors import InputError
from rebalsim.outside.files import read_bytes, read_stdin
from rebalsim.outside.rule import strange
from rebalsim.worlds.text_tree import LARGEST
from rebalsim.worlds.words import listed

MOST_FILES = 5_000
# In a folder these are looked at by nobody's importer: code, pictures, archives, locks.
_NOT_SETTINGS = frozenset(
    listed(
        """
    .py .java .kt .go .rs .js .ts .tsx .jsx .c .h .cpp .cs .rb .php .scala .sh .bat .md .rst .html
    .css .svg .png .jpg .jpeg .gif .ico .pdf .zip .gz .tgz .jar .class .so .exe .lock .sum .mod .xml
    .gradle .sql .proto .avsc .csv .parquet .woff .woff2
    """
    )
)
_NOT_FOLDERS = frozenset(("node_modules", "target", "build", "__pycache__", "vendor", "venv"))

Source = tuple[str, str]


def read_files(paths: Iterable[str], stdin: str | None = None) -> list[Source]:
    """The texts of files and folders, in order; `-` is what comes in by the pipe."""
    found: list[Source] = []
    for path in paths:
        strange(path)
        if path == "-":
            found.append(("standard input", stdin or ""))
        elif Path(path).is_dir():
            found += [(str(f), text) for f in _walk(Path(path)) if (text := _text(f, True))]
        else:
            found.append((path, _text(Path(path), False)))
        if len(found) > MOST_FILES:
            raise InputError(
                f"{path} holds more than {MOST_FILES:,} files — name the folder of the manifests"
            )
    return with_bases(found)


def piped() -> str:
    """What comes in by the pipe, as far as it can be deployment files."""
    raw = read_stdin(LARGEST)
    if len(raw) > LARGEST:
        raise InputError(f"standard input is larger than {LARGEST:,} bytes — give files")
    return raw.decode("utf-8-sig", "replace")


def with_bases(sources: list[Source]) -> list[Source]:
    """The sources and what their kustomizations name: bases, patches, files to make ConfigMaps of.

    Only from within the same repository (or, without one, the folder of the kustomization), and
    only files: what lies elsewhere or on the net stays named and unread.
    """
    from rebalsim.worlds.kubernetes.kustomize import named_files

    have = {os.path.normpath(name) for name, _ in sources}
    queue, made = list(sources), list(sources)
    while queue and len(made) < MOST_FILES:
        name, text = queue.pop()
        for path in named_files(name, text):
            found = next((p for p in _candidates(path) if p.is_file()), None)
            if found is None or str(found) in have or not _is_inside(found, Path(name)):
                continue
            have.add(str(found))
            more = (str(found), _text(found, True))
            made.append(more)
            queue.append(more)
    return made


def _candidates(path: str) -> list[Path]:
    names = ("kustomization.yaml", "kustomization.yml", "Kustomization")
    return [Path(path), *(Path(path) / n for n in names)]


def _is_inside(found: Path, kustomization: Path) -> bool:
    """Whether a file lies in the same repository as the kustomization that names it."""
    home = kustomization.resolve().parent
    root = next((p for p in (home, *home.parents) if (p / ".git").exists()), home)
    return found.resolve().is_relative_to(root)


def _is_hidden(name: str) -> bool:
    """What begins with a dot is nobody's to read, but for compose's file of variables."""
    return name.startswith(".") and not re.fullmatch(r"\.env(\.[\w-]+)?", name)


def is_settings(name: str) -> bool:
    """Whether a file in a folder could hold settings, by what it is surely not."""
    return Path(name).suffix.lower() not in _NOT_SETTINGS


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _NOT_FOLDERS)
        for name in sorted(files):
            path = Path(here) / name
            if _is_hidden(name) or not is_settings(name) or not path.is_file():
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
                continue  # it leads out of what was given
            yield path


def _text(path: Path, is_in_folder: bool) -> str:
    """A file's text through the one door for strangers' files; in a folder, what cannot be read is
    passed over.
    """
    try:
        return read_bytes(path, LARGEST).decode("utf-8-sig", errors="replace")
    except InputError:
        if is_in_folder:
            return ""
        raise
