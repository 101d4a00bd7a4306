"""Which kind of recording a file is, told by its first line, and the text within it (plain or .gz)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from rebalsim.domain.errors import InputError

Kind = Literal["assignors", "classic", "consumer", "trace"]


def lines_of(path: Path) -> Iterator[str]:
    """The file's lines, unpacked if it is gzipped (by its first bytes, not by its name)."""
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as f:
            yield from f
    except (OSError, EOFError, gzip.BadGzipFile) as e:
        raise InputError(f"{path}: cannot be read ({getattr(e, 'strerror', None) or e}) — give a file made by a recording, plain or .gz") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text — give a file made by a recording, plain or .gz") from None


def recognise(path: Path) -> Kind:
    """The kind of the file: assignor answers, a conversation with a coordinator (classic or consumer), or a trace of consumers."""
    first = next((line for line in lines_of(path) if line.strip()), "")
    try:
        document = json.loads(first)
    except ValueError:                    # a trace is one JSON document over many lines: its first line holds the header only
        return "trace" if '"events"' in first or '"steps"' in first else _unknown(path)
    except RecursionError:
        return _unknown(path)
    if not isinstance(document, dict):
        return _unknown(path)
    if "assignor" in document and "steps" in document:
        return "assignors"
    if "events" in document and "conf" in document:
        return "trace"
    if "config" in document and "steps" in document:
        return "consumer" if "topics" in document else "classic"
    return _unknown(path)


def _unknown(path: Path) -> Kind:
    raise InputError(f"{path}: is not a recording that verify knows — it reads assignor answers and conversations (.jsonl) and traces of consumers (.json)")
