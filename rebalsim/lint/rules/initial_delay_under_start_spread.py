"""Pods start over a longer time than the initial rebalance delay waits: the group is built in
several generations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, is_classic, round_up, say, say_setting
from rebalsim.lint.figures import quantile
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="initial-delay-under-start-spread",
    heading="Timers against each other",
    title="Members start over a longer time than the group waits for them",
    what="In a cold start of a classic group, members are ready so far apart that the first "
    "generation is formed without some of them "
    "(group.initial.rebalance.delay.ms is waited again only while others keep joining).",
    why="Each member that comes after the first generation causes a rebalance of its own, or "
    "shares one with a few others: everything that "
    "was handed out moves again, while the first members are already at work. A start of 30 pods "
    "becomes a storm of rebalances.",
    fix="Raise group.initial.rebalance.delay.ms on the brokers above the longest gap between two "
    "starts (5s to 15s do for most), or start "
    "the pods together.",
    example=(
        "group.initial.rebalance.delay.ms: 3s\n"
        "# 12 pods start within 60 s, with gaps of 5 s and more:\n"
        "# several generations"
    ),
    source="KIP-134; GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule (extended while "
    "members arrive).",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    delay = scenario.cluster.config.group_initial_rebalance_delay_us
    for group in scenario.groups:
        members = [c for c in at_start(group) if is_classic(c)]
        if len(members) < 2:
            continue
        ready = sorted(_ready_at(members))
        first = _first_generation(ready, delay, max(c.config.max_poll_interval_us for c in members))
        late = [at for at in ready if at > first]
        if late:
            gap = max(b - a for a, b in itertools.pairwise(ready))
            enough = say_setting(round_up(gap, SECOND) + SECOND)
            yield Finding(
                f"{len(members)} members of {group.name} are ready within "
                f"{say(ready[-1] - ready[0])} of each other, and the first generation is "
                f"formed about {say(first - ready[0])} after the first of them: about "
                f"{len(late)} come later and rebalance the group again — "
                "write group.initial.rebalance.delay.ms: "
                f"{enough}, or start them together",
                Place("group", group.name, "life"),
                fix=(("group.initial.rebalance.delay.ms", enough),),
            )


def _ready_at(members: list[Consumer]) -> list[float]:
    """When each is ready to join, spread evenly over what its draws allow: the usual picture,
    not the unlucky one.
    """
    total = len(members)
    found = []
    for n, member in enumerate(members):
        assert member.starts_at is not None
        # two draws are shuffled against each other, so that late starters aren't always the slow
        # ones too
        one, other = (n + 0.5) / total, ((n * 7 + 3) % total + 0.5) / total
        found.append(
            quantile(member.starts_at, one)
            + quantile(member.life.start, other if not member.starts_at.is_constant else one)
        )
    return found


def _first_generation(ready: list[float], delay: float, limit: float) -> float:
    """When the initial delay is over: another whole window follows while somebody joined in the
    last one.
    """
    start = end = ready[0]
    count = 1
    while True:
        end += delay
        if end - start >= limit:
            return start + limit
        joined = sum(1 for at in ready if at <= end)
        if joined == count or delay <= 0:
            return end
        count = joined
