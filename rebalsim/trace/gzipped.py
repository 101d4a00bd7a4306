"""Text from a file that may be gzipped: what `rebalsim.outside.files` reads, for this room's
readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rebalsim.outside.files import read_lines, read_text


def lines_of(path: Path) -> Iterator[str]:
    """The file's lines, unpacked where needed."""
    return read_lines(path)


def text_of(path: Path) -> str:
    """The whole file as one text."""
    return read_text(path)
