"""A revoke callback slower than a heartbeat: the whole group waits for it at the barrier."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer, Cost, State
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import (
    alike,
    everyone,
    heartbeat_us,
    protocol_of,
    say,
    say_names,
    share_of,
    work_of,
)
from rebalsim.lint.figures import revoke_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="slow-listener",
    heading="Listeners and state",
    title="The revoke callback is slower than a heartbeat",
    what="onPartitionsRevoked, with the flush of state, takes longer at worst than "
    "heartbeat.interval.ms for a member's even share of "
    "the partitions.",
    why="The callback runs in the poll thread before the member joins (eager: for all of its "
    "partitions; cooperative: for those it gives "
    "up, before the second round). Nobody gets partitions until the slowest has joined, so one "
    "slow callback is everybody's pause, "
    "longer than it takes the members to hear of the rebalance. It counts against "
    "max.poll.interval.ms too.",
    fix="Do less in the callback: flush in the background as you go, commit once and not per "
    "partition; or use cooperative-sticky, which "
    "revokes only what moves.",
    example=("listener: {on_revoked: 200ms + 500ms/partition}\n# 20 partitions: 10.2 s for all"),
    source="ConsumerCoordinator.onJoinPrepare (eager) and onJoinComplete (cooperative) call the "
    "listener before JoinGroup is sent.",
)


_WAITING = {
    "eager": "at each rebalance every member waits for it",
    "cooperative": "the second round waits for it when all of them move",
    "consumer": "whoever gets them next waits for it when all of them move",
}


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[int, str, Cost, State, object]:
        return heartbeat_us(scenario, c), protocol_of(c), c.listener.revoked, c.state, work_of(c)

    for (beat, protocol, *_), who in alike(everyone(scenario), figures):
        share = share_of(scenario, who[0])
        takes = revoke_us(who[0], share)
        if share < 1 or takes <= beat:
            continue
        yield Finding(
            f"giving up {share} partition{'s' if share > 1 else ''} takes {say_names(who)} up to "
            f"{say(takes)}, longer than a heartbeat interval "
            f"({say(beat)}): {_WAITING[protocol]} — do less in "
            f"onPartitionsRevoked{', or use cooperative-sticky' if protocol == 'eager' else ''}",
            Place("consumer", who[0].name, "on_revoked|flush|listener|state"),
        )
