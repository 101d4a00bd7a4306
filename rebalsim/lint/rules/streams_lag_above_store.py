"""An acceptable recovery lag that counts nobody's missing state."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import (
    applications,
    is_classic,
    place,
    records_of_a_task,
    restore_us,
)

LIMIT_US = 5 * SECOND

RULE = Rule(
    id="streams-lag-above-store",
    heading="Kafka Streams",
    title="An acceptable lag above the stores' size: tasks move cold",
    what="acceptable.recovery.lag is as large as a task's changelog, and restoring that takes "
    "longer than 5 s.",
    why="Whoever is fewer records behind counts as caught up. Where a task's whole changelog is no "
    "more than that, an instance with nothing at all counts as caught up as well: a newcomer is "
    "given tasks at once, without a warm-up, and they stand still until they are restored.",
    fix="Write an acceptable.recovery.lag that is a few seconds of the changelog's writes; 10,000 "
    "is Kafka's own.",
    example="streams:\n  topology: [{source: orders, store: {records: 6000000}}]\n"
    "  config: {acceptable.recovery.lag: 10000000}   # → 10000",
    source="HighAvailabilityTaskAssignor; KIP-441.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, _ in applications(scenario):
        lag, records = app.config.acceptable_recovery_lag, records_of_a_task(scenario, app)
        took = restore_us(scenario, app)
        if is_classic(app) and 0 < records <= lag and took > LIMIT_US:
            yield Finding(
                f"an instance without any state counts as caught up: a task has {records:,} "
                f"records, and {lag:,} may be missing; it moves cold, and stands still for "
                f"{say(took)} — write a smaller acceptable.recovery.lag",
                place(group),
                fix=(("streams.config.acceptable.recovery.lag", str(max(1, records // 10))),),
            )
