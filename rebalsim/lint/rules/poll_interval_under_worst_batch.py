"""The likely worst batch takes longer than max.poll.interval.ms: the member is thrown out while
it works.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Slow
from rebalsim.lint.facts import (
    alike,
    everyone,
    full_batch,
    round_up,
    say,
    say_names,
    say_setting,
    work_of,
)
from rebalsim.lint.figures import worst_batch_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="poll-interval-under-worst-batch",
    heading="Handlers and commits",
    title="The worst batch outlasts max.poll.interval.ms",
    what="max.poll.records records at the handler's cost (its mean, plus three deviations or one "
    "worst record, plus the batch's own cost) "
    "take longer than max.poll.interval.ms. Fewer records are counted where a poll cannot hold "
    "so many.",
    why="When the application has not polled for max.poll.interval.ms, the client leaves the "
    "group by itself, though it works: its "
    "partitions move, its commits are refused, and what it had handled is handled again by the "
    "next owner, who finds a backlog, gets "
    "full batches, and is thrown out in the same way. After a pause there always is a backlog: "
    "full batches are the rule then.",
    fix="Lower max.poll.records so that a full batch at its worst fits twice into "
    "max.poll.interval.ms. Raise max.poll.interval.ms only "
    "if you can live with it as the rebalance timeout too: the whole group waits that long for a "
    "stuck member.",
    example="max.poll.interval.ms: 30s\nmax.poll.records: 500          # × 100 ms a record = 50 s "
    "→ "
    "100",
    source="AbstractCoordinator.HeartbeatThread (poll timeout, LeaveGroup “consumer poll timeout "
    "has expired”); KIP-62.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    slowed: dict[str, float] = {}
    for action in scenario.script:
        if isinstance(action.deed, Slow):
            for name in action.deed.consumers:
                slowed[name] = max(slowed.get(name, 1.0), action.deed.factor)
    for (handler, limit, factor, *_), who in alike(
        everyone(scenario),
        lambda c: (
            c.handler,
            c.config.max_poll_interval_us,
            slowed.get(c.name, 1.0),
            c.config.max_poll_records,
            work_of(c),
        ),
    ):
        records = full_batch(scenario, who[0])
        worst = worst_batch_us(scenario, handler, records) * factor
        if records < 1 or worst <= limit:
            continue
        fitting = max(1, int(records * limit / 2 / worst))
        slow = f" while slowed {factor:g}-fold" if factor > 1 else ""
        needed = max(MINUTE, round_up(2 * worst, 10_000_000))
        yield Finding(
            f"max.poll.interval.ms {say(limit)} is shorter than the likely worst batch of "
            f"{say_names(who)}{slow}: {records} records take up "
            f"to {say(worst)}, and the member is expelled while it works — write "
            f"max.poll.records: {fitting}, or "
            f"max.poll.interval.ms: {say_setting(needed)}",
            Place(
                "consumer", who[0].name, "max.poll.interval.ms|max.poll.records|per_record|handler"
            ),
            fix=(("max.poll.records", str(fitting)),),
        )
