"""How long a group has run where a story begins settled.

An hour, as far as it takes heartbeats that began together to come apart. Where nothing is ever quite
like the last time (handlers or the network take times that are drawn, each batch waits for its
commit, or chance has a say in when the consumer protocol commits) they come apart sooner, and
much of that hour would have to be played: then it is five minutes, Kafka's age of metadata.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import Draw, most_of
from rebalsim.domain.instants import HOUR, MINUTE
from rebalsim.domain.scenario import Scenario


def lead_of(story: Scenario) -> int:
    """In µs."""
    running = [c for group in story.groups for c in group.consumers if c.starts_at is not None]
    if any(_takes_long(one) for one in running):
        return HOUR
    repeats = all(_commits_alike(one) for one in running) and all(
        draw.is_constant for draw in _met_again_and_again(story)
    )
    return HOUR if repeats else 5 * MINUTE


def _commits_alike(one: Consumer) -> bool:
    """Does it commit at the same places of all rounds, or never?"""
    if one.config.uses_consumer_protocol:
        return one.handler.commit is CommitStyle.NONE
    return not one.handler.commit.is_awaited


def _takes_long(one: Consumer) -> bool:
    """Might it not be done with its start in five minutes?"""
    return most_of(one.life.start) > MINUTE or one.state.bytes_per_partition > 0


def _met_again_and_again(story: Scenario) -> Iterator[Draw]:
    """The times that each batch and each request take."""
    network = story.cluster.network
    yield network.latency
    if network.cross_rack is not None:
        yield network.cross_rack
    for link in network.links:
        yield link.latency
    for group in story.groups:
        for one in group.consumers:
            if one.starts_at is not None:
                yield one.handler.per_record
                yield one.handler.per_batch
