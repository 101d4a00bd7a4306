"""An acceptable recovery lag that no warm-up ever reaches."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import applications, is_classic, place, tasks_of

RULE = Rule(
    id="streams-lag-under-writes",
    heading="Kafka Streams",
    title="An acceptable lag that no warm-up reaches",
    what="acceptable.recovery.lag is less than a task's changelog grows by in a second.",
    why="A copy follows its changelog by a poll and a commit, so it is always about a second of "
    "writes behind. Where that is more than acceptable.recovery.lag, nobody but the owner ever "
    "counts as caught up: warm-ups are never done, tasks never spread, and the group rebalances "
    "at every probing interval for good.",
    fix="Write an acceptable.recovery.lag of several seconds of the changelog's writes.",
    example="topics: {orders: {partitions: 6, rate: 60k/s}}\n"
    "streams: {config: {acceptable.recovery.lag: 1000}}   # → 50000",
    source="HighAvailabilityTaskAssignor; KIP-441.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    rates = {
        topic.name: topic.rate[0].per_second if topic.rate else 0.0 for topic in scenario.topics
    }
    for group, app, members in applications(scenario):
        if not is_classic(app) or len(members) < 2:
            continue
        grows = 0.0  # the quickest changelog of a task, in records a second
        for part in app.parts:
            arriving = sum(rates.get(name, 0.0) for name in part.sources)
            written = max((store.writes for store in part.stores), default=0.0)
            grows = max(grows, arriving * written / max(1, tasks_of(scenario, app, part)))
        if app.config.acceptable_recovery_lag < grows:
            enough = max(10_000, int(grows * 10))
            yield Finding(
                f"a task's changelog grows by {grows:,.0f} records a second, so no copy is ever "
                f"within {app.config.acceptable_recovery_lag:,} of its end — write "
                f"acceptable.recovery.lag: {enough}",
                place(group),
                fix=(("streams.config.acceptable.recovery.lag", str(enough)),),
            )
