"""A rolling bounce that goes on before the group has looked again."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import is_static, named, say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of
from rebalsim.lint.streams_facts import applications, is_classic, records_of_a_task

RULE = Rule(
    id="streams-probing-outlasts-settle",
    heading="Kafka Streams",
    title="The next instance is restarted before the group has looked again",
    what="Dynamic instances with state are restarted one after another, and the wait between two "
    "is shorter than probing.rebalance.interval.ms.",
    why="What left with a restarted instance comes back by a warm-up, and warm-ups are handed over "
    "at a probing rebalance only, ten minutes apart. A roll that goes on before "
    "restarts the instances that hold two shares by then, and moves their tasks as well: "
    "with the last restart most tasks are with the first ones.",
    fix="Make instances static (group.instance.id), so that nothing moves; else wait longer "
    "(settle), or probe more often, a minute at the least.",
    example='rolling_bounce: {members: all, settle: 2m}\n# → config: {group.instance.id: "{name}"}',
    source="StreamsPartitionAssignor: the follow-up rebalance; KIP-441.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for _, app, _ in applications(scenario):
        config = app.config
        if not is_classic(app) or records_of_a_task(scenario, app) <= (
            config.acceptable_recovery_lag
        ):
            continue
        for action, deed in deeds_of(scenario, RollingBounce):
            if len(deed.consumers) < 2:
                continue
            moved = [c for c in named(scenario, deed.consumers) if not is_static(c)]
            if moved and deed.settle_us < config.probing_rebalance_interval_us:
                yield Finding(
                    f"the next instance goes {say(deed.settle_us)} after the last is back, and "
                    "the group hands warm-ups over only every "
                    f"{say(config.probing_rebalance_interval_us)} — make them static "
                    '(group.instance.id: "{name}"), or wait longer',
                    place_of(action),
                    fix=(("group.instance.id", '"{name}"'),),
                )
