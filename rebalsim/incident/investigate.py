"""From logs to the whole of an incident: disturbances, scenario, replay, remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rebalsim.advice.advise import DEFAULT_EVENTS, remedies_of
from rebalsim.domain.errors import RebalsimError
from rebalsim.domain.remedy import Remedy
from rebalsim.incident.align import aligned
from rebalsim.incident.disturbance import Disturbance, disturbances_of, unrest_of
from rebalsim.incident.replay import Held, hold, story_in
from rebalsim.incident.static import static_remedy
from rebalsim.incident.to_scenario import Written
from rebalsim.worlds.logs.observation import GroupStory, Observation

WANTED = ("longest_pause", "partition_seconds")


@dataclass(slots=True)
class Incident:
    """What happened to one group, and what came of trying it again."""

    story: GroupStory
    disturbances: list[Disturbance]
    written: Written | None = None
    held: Held | None = None
    remedies: tuple[Remedy, ...] = ()
    is_tried: bool = False  # whether remedies were looked for
    why_not: str = ""  # why nothing could be played
    missed: list[str] = field(default_factory=list)

    @property
    def cost_us(self) -> int:
        """Partition-time lost, all in all."""
        return sum(d.cost_us for d in self.disturbances)


def investigate(observed: Observation, events: int = DEFAULT_EVENTS) -> list[Incident]:
    """Every group that lost something, or of which no log says what it lost; the worst first, which is
    played and advised on.
    """
    stories = observed.groups.values()
    found = [Incident(s, disturbances_of(s) or unrest_of(s)) for s in stories]
    found = sorted((i for i in found if i.disturbances), key=lambda i: (-i.cost_us, i.story.name))
    for incident in found[:1]:
        try_again(incident, events)
    return found


def try_again(incident: Incident, events: int = DEFAULT_EVENTS) -> None:
    """Play the incident, hold the replay against it, and where it is believed try what could help."""
    story = incident.story
    if not story.voices:
        incident.why_not = "no member's log is at hand, so there is nothing to play"
        return
    if not story.pauses:
        incident.why_not = "its members' logs do not say which partitions they had"
        return
    try:
        written = aligned(story)
        held = hold(written, story.pauses)
        incident.written, incident.held = written, held
        if held.is_believed and events:
            incident.is_tried = True
            found = remedies_of(story_in(written.text), events)
            listed = [r for rs in found.values() for r in rs]
            incident.remedies = _best_first(listed + static_remedy(story, written, events))
    except RebalsimError as e:
        incident.why_not = f"what was observed cannot be played ({str(e).splitlines()[0]})"


PRICE_WEIGHS = 0.1


def _best_first(remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """By what they leave of all that hurt, on the average; a price counts as a tenth each."""

    def left(r: Remedy) -> float:
        shares = [r.after[m] / r.before[m] for m in WANTED if r.before.get(m) and m in r.after]
        return sum(shares) / max(len(shares), 1) + PRICE_WEIGHS * len(r.price)

    return tuple(sorted(remedies, key=left))
