"""From the value that a finding is about to where it stands in the file: what an editor jumps to and a caret points at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalsim.lint.finding import Place


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file. Lines and columns count from 1."""

    file: str
    line: int = 1
    column: int = 1
    source: str = ""
    width: int = 1


def spot_of(story: Any, variant: str, place: Place) -> Spot:
    return Spot(story.scenario(variant).file, place.line or 1, place.column or 1)
