"""A group's life cut into disturbances: rebalances that belong together, with the pauses they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rebalsim.worlds.logs.facts import CALLS
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.pauses import Pause
from rebalsim.worlds.logs.rounds import Round

FIRST_GENERATION = 2  # up to which a group forms: the consumer protocol counts from 2
CALM_US = 10_000_000  # who begins again so soon after the last one is part of it


@dataclass(slots=True)
class Disturbance:
    """From the first sign of trouble to the last partition's being read again."""

    group: str
    rounds: list[Round] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    until_us: int = 0  # where the logs end

    @property
    def begin_us(self) -> int:
        """The first pause, or the first rebalance."""
        starts = [p.start_us for p in self.pauses] + [r.begin_us for r in self.rounds]
        return min(starts)

    @property
    def end_us(self) -> int:
        """The last partition's return, or the last rebalance's end; where neither came, the logs' end."""
        ends = [p.end_us for p in self.pauses if p.end_us >= 0]
        ends += [max(r.end_us, r.joined_us, r.begin_us) for r in self.rounds]
        return max(ends, default=self.until_us)

    @property
    def cost_us(self) -> int:
        """Partition-time lost; what is not taken up again counts to the logs' end."""
        return sum(self.length_us(p) for p in self.pauses)

    @property
    def held_up_us(self) -> int:
        """How long its rebalances took, all in all: each to its assignment, or its barrier's fall."""
        return sum(max(r.end_us, r.joined_us, r.begin_us) - r.begin_us for r in self.rounds)

    def length_us(self, p: Pause) -> int:
        """How long the partition stood still, as far as the logs reach."""
        return max(0, (p.end_us if p.end_us >= 0 else self.until_us) - p.start_us)

    def by_cause(self) -> list[tuple[tuple[str, str], list[Pause]]]:
        """Pauses by cause and member, the costliest first."""
        found: dict[tuple[str, str], list[Pause]] = {}
        for p in self.pauses:
            found.setdefault((p.kind, p.member), []).append(p)
        return sorted(found.items(), key=lambda x: -sum(map(self.length_us, x[1])))


def disturbances_of(story: GroupStory) -> list[Disturbance]:
    """All of a group's, the costliest first; a group's forming costs nothing and is left out."""
    found = _in_turn(story)
    rest = Disturbance(story.name, until_us=last_us(story))
    for p in story.pauses:
        _home(p, found, rest).pauses.append(p)
    return sorted((d for d in [*found, rest] if d.pauses), key=lambda d: (-d.cost_us, d.begin_us))


def unrest_of(story: GroupStory) -> list[Disturbance]:
    """Those of a group of which no log says who had which partition: its rebalances, without pauses; the
    longest to hold everybody up first, and its forming left out.
    """
    if any(f.what in CALLS and f.partitions for v in story.voices for f in v.facts):
        return []
    found = _in_turn(story)
    if found and found[0].rounds[0].generation <= FIRST_GENERATION:
        found = found[1:]
    return sorted(found, key=lambda d: (-d.held_up_us, d.begin_us))


def _in_turn(story: GroupStory) -> list[Disturbance]:
    """Rebalances that belong together, in order of time."""
    until = last_us(story)
    found: list[Disturbance] = []
    for r in sorted(story.rounds, key=lambda r: r.begin_us):
        if not found or r.begin_us > _calm_after(found[-1], story.pauses):
            found.append(Disturbance(story.name, until_us=until))
        found[-1].rounds.append(r)
    return found


def last_us(story: GroupStory) -> int:
    """The last moment of which the group's logs tell."""
    spoken = [v.facts[-1].at_us for v in story.voices if v.facts]
    spoken += [f.at_us for f in story.coordinator[-1:]]
    return max(spoken, default=0)


def _calm_after(d: Disturbance, pauses: Sequence[Pause]) -> int:
    end = max(max(r.end_us, r.joined_us, r.begin_us) for r in d.rounds)
    begin = d.rounds[0].begin_us
    open_still = [
        p.end_us for p in pauses if begin <= p.start_us <= end + CALM_US and p.end_us >= 0
    ]
    return max([end, *open_still]) + CALM_US


def _home(p: Pause, found: Sequence[Disturbance], rest: Disturbance) -> Disturbance:
    """The disturbance during which the partition came back, else the one that stopped it."""
    end = p.end_us if p.end_us >= 0 else p.start_us
    for d in found:
        begin = d.rounds[0].begin_us
        over = max(max(r.end_us, r.joined_us, r.begin_us) for r in d.rounds)
        if p.start_us <= over + CALM_US and end >= begin - CALM_US // 10:
            return d
    return rest
