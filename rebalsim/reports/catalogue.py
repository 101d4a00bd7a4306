"""An entry of the catalogue as text: a heading, sections of wrapped prose, examples as they are.
Plain, and right in 80 columns.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """What `rebalsim explain` knows of one term. Sections whose heading ends in `:` hold lines
    to be printed as they are.
    """

    term: str
    kind: str  # rule | phase | metric | word | exit code | setting
    title: str
    sections: tuple[tuple[str, str], ...]
    see: tuple[str, ...] = ()


def render_entry(entry: Entry, width: int = 79) -> str:
    """The whole entry."""
    lines = [
        f"{entry.term} ({entry.kind})",
        *(_wrap(_sentence(entry.title), width, "") if entry.title else []),
    ]
    for heading, text in entry.sections:
        lines.append("")
        if heading.endswith(":"):
            lines += [heading[:-1], *(f"  {line}" for line in text.split("\n"))]
        elif heading:
            lines += [heading, *_wrap(text, width, "  ")]
        else:
            lines += _wrap(text, width, "")
    if entry.see:
        lines += ["", *_wrap("See also: " + ", ".join(entry.see), width, "")]
    return "\n".join(lines)


def render_catalogue(entries: dict[str, list[Entry]], width: int = 79) -> str:
    """All terms under their headings: with their titles where these are short sentences, else as
    a running list.
    """
    lines: list[str] = []
    for heading, listed in entries.items():
        if lines:
            lines.append("")
        lines.append(heading)
        if all(e.title for e in listed) and len(listed) < 30:
            room = max(len(e.term) for e in listed) + 2
            for entry in listed:
                first, *rest = _wrap(_sentence(entry.title), width - 2 - room, "") or [""]
                lines.append(f"  {entry.term:<{room}}{first}".rstrip())
                lines += [" " * (2 + room) + line for line in rest]
        else:
            lines += _wrap(", ".join(e.term for e in listed), width, "  ")
    return "\n".join(lines)


def _sentence(title: str) -> str:
    first = title.split(" ", 1)[0]
    # not Client.rack, not OnPartitionsAssigned
    return title[:1].upper() + title[1:] if first.isalpha() and first.islower() else title


def _wrap(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
