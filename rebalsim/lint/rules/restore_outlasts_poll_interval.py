"""Taking partitions over takes longer than max.poll.interval.ms: the member is expelled before
it has begun.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer, Cost, State
from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    alike,
    everyone,
    round_up,
    say,
    say_names,
    say_setting,
    share_of,
    work_of,
)
from rebalsim.lint.figures import assign_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="restore-outlasts-poll-interval",
    heading="Listeners and state",
    title="onPartitionsAssigned outlasts max.poll.interval.ms",
    what="The assigned callback, with restoring the state of a member's even share of the "
    "partitions, takes longer than "
    "max.poll.interval.ms.",
    why="Callbacks run inside poll() while its timer ticks. A member that restores for longer "
    "than max.poll.interval.ms leaves the group in "
    "the middle of it; its partitions go to others, who restore them for as long, and leave in "
    "their turn. The group never settles.",
    fix="Restore outside the callback (pause() the partitions and go on polling), keep standbys, "
    "or raise max.poll.interval.ms above the "
    "longest restore.",
    example=(
        "state: {per_partition: 4GiB, restore: 50MB/s}\n"
        "# 4 partitions: 5 m 44 s in the callback\n"
        "max.poll.interval.ms: 5m"
    ),
    source="AbstractCoordinator.HeartbeatThread checks the poll timer during callbacks; KIP-62.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[int, Cost, State, object]:
        return c.config.max_poll_interval_us, c.listener.assigned, c.state, work_of(c)

    for (limit, *_), who in alike(everyone(scenario), figures):
        share = share_of(scenario, who[0])
        takes = assign_us(who[0], share)
        if share >= 1 and takes > limit:
            yield Finding(
                f"taking over {share} partition{'s' if share > 1 else ''} keeps {say_names(who)} "
                f"up to {say(takes)} in onPartitionsAssigned, "
                f"longer than max.poll.interval.ms {say(limit)}: expelled before the first "
                "record, and so is the next owner — write "
                f"max.poll.interval.ms: {say_setting(round_up(1.25 * takes, MINUTE))}, restore "
                "in the background (state: where: background), or keep standbys",
                Place("consumer", who[0].name, "max.poll.interval.ms|state|listener"),
            )
