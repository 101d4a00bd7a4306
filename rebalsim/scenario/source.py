"""Where values come from, and how what stands there is shown in a message."""

from __future__ import annotations

import re

from rebalsim.domain.errors import Problem

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class Source:
    """Where values come from: a file, a stock overlay, or a `--set` option. `is_override` beats
    overlays.
    """

    __slots__ = ("is_override", "label", "lines", "name", "text")

    def __init__(self, name: str, text: str, label: str = "", is_override: bool = False) -> None:
        self.name = name
        self.text = text
        self.lines = LINE_BREAK.split(text)
        self.label = label  # how provenance names it, where a line number would not help
        self.is_override = is_override

    def problem(
        self,
        line: int,
        column: int,
        message: str,
        width: int = 1,
        is_warning: bool = False,
        rule: str = "",
    ) -> Problem:
        source = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if not message.isprintable():
            message = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in message)
        return Problem(
            self.name,
            line,
            column,
            message,
            source,
            max(1, min(width, len(source) - column + 1)),
            rule,
            is_warning,
        )


def shorten(text: str, room: int = 60) -> str:
    """A value as a message shows it: on one line, not too long."""
    text = text.replace("\n", "⏎")
    return text if len(text) <= room else text[: room - 1] + "…"


# ----------------------------------------------------------------------------------------- the text
