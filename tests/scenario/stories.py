"""Small stories for tests: the smallest that can be played, with whatever a test adds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.errors import Problem, ProblemsError
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.load import story_of
from rebalsim.scenario.overrides import Override
from rebalsim.scenario.story import Story

SMALL = "topics: {orders: 4}\ngroup: {members: 3}\n"


def told(text: str, overrides: Iterable[Override] = (), allow_code: bool = False) -> Story:
    """The story in this text, however indented."""
    return story_of(textwrap.dedent(text).encode(), "story.yaml", overrides, allow_code)


def played(text: str, variant: str = "", overrides: Iterable[Override] = ()) -> Scenario:
    """Its scenario, which must be free of problems."""
    return told(text, overrides).check().scenario(variant)


def problems_of(text: str | bytes, overrides: Iterable[Override] = ()) -> tuple[Problem, ...]:
    try:
        raw = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
        return story_of(raw, "story.yaml", overrides).problems()
    except ProblemsError as e:
        return e.problems


def messages(text: str, overrides: Iterable[Override] = ()) -> str:
    return "\n".join(p.message for p in problems_of(text, overrides))


def consumers(scenario: Scenario) -> dict[str, Consumer]:
    return {c.name: c for g in scenario.groups for c in g.consumers}
