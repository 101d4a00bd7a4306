"""A page of lines for a terminal: in colour or plain, Unicode or ASCII, wrapped to its width."""

from __future__ import annotations

import re
import textwrap

from rebalsim.reports.ink import Line
from rebalsim.reports.names import ascii_of
from rebalsim.reports.view import View

_FIGURE = re.compile(r"(\d) (?=(?:µs|us|ms|s|m|h)\b|[%×])")
_MINUTES = re.compile(r"(\d\u00a0[mh]) (\d+\u00a0[ms]\b)")


def glue(text: str) -> str:
    """A number and its unit, `5 m 12 s`, held together by no-break spaces."""
    return _MINUTES.sub("\\1\u00a0\\2", _FIGURE.sub("\\1\u00a0", text))


def wrapped_lines(text: str, width: int, indent: int = 0, hanging: int = 0) -> list[str]:
    """The text in lines of that width; a number and its unit stay on one line."""
    lines = textwrap.wrap(
        glue(text),
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging),
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


class Page:
    """Lines on their way out, in colour or plain, Unicode or ASCII."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.lines: list[str] = []

    def line(self, text: Line | str = "", style: str = "") -> None:
        if isinstance(text, str):
            text = Line(self.plain(text), style)
        self.lines.append(text.written(self.view.is_coloured))

    def heading(self, text: str) -> None:
        self.line()
        self.line(text, "bold")

    def wrapped(self, text: str, indent: int = 2, style: str = "", hanging: int = 0) -> None:
        for line in wrapped_lines(self.plain(text), self.view.width, indent, hanging):
            self.line(Line(line, style))

    def plain(self, text: str) -> str:
        return ascii_of(text) if self.view.is_ascii else text

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"
