"""Text from a file that may be gzipped (told by its first bytes, not by its name), with errors
that say what to do.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from rebalsim.domain.errors import InputError


def lines_of(path: Path) -> Iterator[str]:
    """The file's lines, unpacked where needed."""
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == b"\x1f\x8b"
        with (
            gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as f
        ):
            yield from f
    except (OSError, EOFError, gzip.BadGzipFile, zlib.error) as e:
        why = getattr(e, "strerror", None)
        raise InputError(
            f"{path}: cannot be read ({why or e}) — "
            f"{'check its name and permissions' if why else 'is it whole?'}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text, plain or .gz") from None


def text_of(path: Path) -> str:
    """The whole file as one text."""
    return "".join(lines_of(path))
