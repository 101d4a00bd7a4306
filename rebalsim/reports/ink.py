"""Styled text for terminals in a few lines: pieces with a style, written with or without colour.
(rich does more, and takes longer than a run.)
"""

from __future__ import annotations

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "bright_black": "90",
    "bright_red": "91",
    "bright_green": "92",
    "bright_yellow": "93",
    "bright_blue": "94",
    "bright_magenta": "95",
    "bright_cyan": "96",
}


class Line:
    """One line, in pieces. A style is a list of words such as `bold green`."""

    __slots__ = ("pieces",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self.pieces: list[tuple[str, str]] = [(text, style)] if text else []

    def add(self, text: str, style: str = "") -> Line:
        """Appends a piece; returns the line."""
        if text:
            self.pieces.append((text, style))
        return self

    def add_line(self, other: Line) -> Line:
        self.pieces += other.pieces
        return self

    def pad_to(self, width: int) -> Line:
        """Blanks up to that column."""
        return self.add(" " * (width - len(self)))

    def __len__(self) -> int:
        return sum(len(text) for text, _ in self.pieces)

    def written(self, is_coloured: bool) -> str:
        """The line as it goes out, without blanks at its end."""
        if not is_coloured:
            return "".join(text for text, _ in self.pieces).rstrip()
        pieces = list(self.pieces)
        while pieces and not pieces[-1][0].strip():
            pieces.pop()
        return "".join(
            f"\x1b[{sgr(style)}m{text}\x1b[0m" if style else text for text, style in pieces
        ).rstrip()


def sgr(style: str) -> str:
    """The codes of a style, such as `1;32`."""
    return ";".join(_CODES[word] for word in style.split())


def table(rows: list[list[Line]], gap: int = 2) -> list[Line]:
    """Cells in columns as wide as their widest."""
    widths = [
        max(len(row[i]) for row in rows if i < len(row))
        for i in range(max(map(len, rows), default=0))
    ]
    lines = []
    for row in rows:
        line, at = Line(), 0
        for cell, width in zip(row, widths):
            line.pad_to(at).add_line(cell)
            at += width + gap
        lines.append(line)
    return lines
