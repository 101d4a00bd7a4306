"""From the value that a finding is about to where it stands in the file: what an editor jumps to
and a caret points at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.finding import Place


class Tellable(Protocol):
    """What lint needs of a story: variants as resolved scenarios, and where values stand in the
    file. The scenario room's Story is one.
    """

    file: str
    source_lines: tuple[str, ...]
    variants: tuple[str, ...]

    def scenario(self, variant: str = "") -> Scenario: ...

    def says(self, consumer: str, key: str, variant: str = "") -> bool: ...

    def place_of(
        self, kind: str, name: str = "", key: str = "", variant: str = ""
    ) -> tuple[int, int, str, int]: ...


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file. Lines and columns count from 1."""

    line: int
    column: int
    source: str
    width: int


def spot_of(story: Tellable, variant: str, place: Place) -> Spot:
    """An action or a budget knows its line; for everything else the story is asked."""
    if place.line < 1 or place.line > len(story.source_lines):
        kind = "story" if place.kind in ("action", "budget") else place.kind
        line, column, source, width = story.place_of(kind, place.name, place.key, variant)
        return Spot(line, column, source, width)
    source = story.source_lines[place.line - 1]
    if place.column > 0:
        return Spot(
            place.line,
            place.column,
            source,
            max(1, min(len(place.name), len(source) - place.column + 1)),
        )
    text = source.strip().removeprefix("- ")
    begins = len(source) - len(source.lstrip().removeprefix("- "))
    return Spot(place.line, begins + 1, source, max(1, len(text)))
