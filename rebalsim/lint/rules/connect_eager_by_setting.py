"""Kafka Connect's workers are kept eager by an old setting."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.connect_facts import workers_of
from rebalsim.lint.facts import say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="connect-eager-by-setting",
    heading="Kafka Connect",
    title="One worker's connect.protocol: eager stops the whole cluster at every round",
    what="A worker has connect.protocol: eager and the story does not turn it.",
    why="The group speaks what all its workers offer: one eager worker makes every round stop "
    "every connector and task everywhere, and each sink's consumer group runs empty and waits "
    "for group.initial.rebalance.delay.ms again. The default has been incremental since Kafka "
    "2.3 (sessioned since 2.4).",
    fix="Leave connect.protocol out, or write sessioned; one rolling bounce is enough.",
    example="connect.protocol: eager                    # every join stops every task",
    source="ConnectProtocolCompatibility; KIP-415, KIP-507.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    eager = [c for c in workers_of(scenario) if c.worker and c.worker.connect_protocol == "eager"]
    if not eager or scenario.variant == "eager" or _is_turned(scenario):
        return
    others = len(workers_of(scenario)) - len(eager)
    whole = f", and with it the {others} others" if others else ""
    yield Finding(
        f"connect.protocol: eager has {say_names(eager)}{whole} stop every connector and task at "
        "every round — write sessioned, or leave it out",
        Place("connect", "", "connect.protocol"),
        fix=(("connect.protocol", "sessioned"),),
    )


def _is_turned(scenario: Scenario) -> bool:
    """Does the script deploy another protocol?"""
    return any(
        c.worker is not None and c.worker.connect_protocol != "eager"
        for action in scenario.script
        for c in getattr(getattr(action.deed, "deploy", None), "consumers", ())
    )
