"""Topics that grew while the logs were written: what was assigned before and after a rebalance whose
cause was a topic says by how much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rebalsim.incident.lives import Life
from rebalsim.worlds.logs.facts import CALLS, Fact
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind

BEFORE_US = 5_000  # so long before the group moved, its topics had grown


@dataclass(slots=True)
class Growth:
    """A topic has more partitions from an instant on, and who saw it first."""

    at_us: int
    topic: str
    count: int
    seen_by: str = ""  # the life whose metadata were fresh then; empty: the coordinator's


def topics_of(story: GroupStory) -> dict[str, int]:
    """Partitions of each topic when the logs begin, as far as anybody was given them."""
    grown = [r.begin_us for r in _changes(story)]
    last = _counted(story, 0, 1 << 62)
    first = _counted(story, 0, grown[0]) if grown else last
    return {topic: first.get(topic, count) for topic, count in last.items()}


def growths_of(story: GroupStory, lives: Sequence[Life]) -> list[Growth]:
    """Every growth that a rebalance tells of, in order."""
    found: list[Growth] = []
    changes = _changes(story)
    has = topics_of(story)
    for n, r in enumerate(changes):
        until = changes[n + 1].begin_us if n + 1 < len(changes) else 1 << 62
        for topic, count in sorted(_counted(story, r.begin_us, until).items()):
            if count > has.get(topic, 0):
                has[topic] = count
                found.append(Growth(r.begin_us - BEFORE_US, topic, count, _seen_by(r, lives)))
    return found


def _changes(story: GroupStory) -> list[Round]:
    return sorted(
        (r for r in story.rounds if r.trigger.kind == TriggerKind.TOPIC_CHANGE),
        key=lambda r: r.begin_us,
    )


def _counted(story: GroupStory, since_us: int, until_us: int) -> dict[str, int]:
    """The highest partition of each topic that is named in this time, and one."""
    facts = (f for v in story.voices for f in v.facts if since_us <= f.at_us < until_us)
    return partitions_in(facts)


def partitions_in(facts: Iterable[Fact]) -> dict[str, int]:
    """As many partitions of each topic as a listener was called with the numbers of."""
    found: dict[str, int] = {}
    for f in facts:
        for name in f.partitions if f.what in CALLS else ():
            topic, _, number = name.rpartition("-")
            if topic and number.isdigit():
                found[topic] = max(found.get(topic, 0), int(number) + 1)
    return found


def _seen_by(r: Round, lives: Sequence[Life]) -> str:
    if r.is_epoch:
        return ""
    fitting = (x.name for x in lives if x.began(r) and x.begin_us <= r.begin_us <= x.end_us)
    return next(fitting, "")
