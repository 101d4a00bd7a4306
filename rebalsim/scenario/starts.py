"""How a story begins where its file does not say: with a group that already runs, unless the start
belongs to the story.

Most stories tell what a deploy, a crash or a new member does to a group at work. Its start, long
over by then, would only be in the way: of all that stands still, what has not begun yet stands
still longest. So such a story begins settled. `start:` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import mean_of, most_of
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Group, Scenario, Topic

# A start takes a few times group.initial.rebalance.delay.ms (3 s), and then some heartbeats until
# everybody has what is his.
SETTLES_US = 30 * SECOND


def begins_settled(story: Scenario) -> bool:
    """Would its group have settled before anything happens to it?"""
    first = min(_moments(story), default=None)
    running = [c for group in story.groups for c in _running(group)]
    return (
        first is not None
        and not why_cold(story)
        and first >= SETTLES_US + max((most_of(c.life.start) for c in running), default=0)
        and not any(topic.backlog for topic in story.topics)
        and all(_keeps_up(story, group) for group in story.groups)
    )


def why_cold(story: Scenario) -> str:
    """Why the story cannot begin with a group that already runs; empty if it can."""
    if any(group.streams is not None for group in story.groups):
        return "A Kafka Streams application cannot begin settled yet: it is played from its start"
    for group in story.groups:
        for one in _running(group):
            if one.starts_at is not None and not one.starts_at.is_zero:
                return (
                    f"{one.name} is started later than the others, so the group has not settled at "
                    "the beginning"
                )
    return ""


def _running(group: Group) -> list[Consumer]:
    return [one for one in group.consumers if one.starts_at is not None]


def _moments(story: Scenario) -> Iterator[int]:
    """When something may happen, and from when on something is expected."""
    for action in story.script:
        if action.after is None:
            yield action.at_us
    for fault in story.random_faults:
        yield fault.from_us
    for fact in story.expectations:
        if fact.from_us is not None:
            yield fact.from_us


def _keeps_up(story: Scenario, group: Group) -> bool:
    """Can everybody handle what comes to him? A group that cannot never settles."""
    members = _running(group)
    topics = [
        t
        for t in story.topics
        if t.exists_from_start and t.partitions and any(m.subscribes_to(t.name) for m in members)
    ]
    if not members or not topics:
        return True
    us = sum(_us_per_record(one) for one in members) / len(members)
    each = max(map(_hottest, topics))  # records a second of one partition
    mean = sum(t.rate[0].per_second for t in topics) / sum(t.partitions for t in topics)
    most = ceil(sum(t.partitions for t in topics) / len(members))
    return max(each, mean * most) * us < SECOND


def _us_per_record(one: Consumer) -> float:
    handler = one.handler
    return mean_of(handler.per_record) + mean_of(handler.per_batch) / one.config.max_poll_records


def _hottest(topic: Topic) -> float:
    whole = sum(topic.weights)
    share = max(topic.weights) / whole if whole else 1 / topic.partitions
    return topic.rate[0].per_second * share
