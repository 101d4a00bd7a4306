"""Stories in YAML, played, and when what happened in them."""

from __future__ import annotations

from rebalsim.domain.instants import SECOND
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace


def played(text: str, variant: str = "as-written", *, wire: bool = False) -> Trace:
    """This story, which says nothing of what to replay, in one variant."""
    story = story_of(f"{text}replay: [{variant}]\n".encode(), "a story").check()
    return play(story.scenario(variant), wire=wire)


def at(trace: Trace, kind: type, since_s: float = 0, **facts: object) -> list[float]:
    """When such events happened from then on, in seconds."""
    return [
        round(e.at_us / SECOND, 3)
        for e in trace.events
        if type(e) is kind
        and e.at_us >= since_s * SECOND
        and all(getattr(e, name) == value for name, value in facts.items())
    ]
