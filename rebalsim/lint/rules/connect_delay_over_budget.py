"""Kafka Connect's delay is longer than a budget lets a task stand still."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash, Leave, RollingBounce
from rebalsim.lint.connect_facts import incremental_config, workers_of
from rebalsim.lint.facts import say, say_setting
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

KEY = "scheduled.rebalance.max.delay.ms"
RULE = Rule(
    id="connect-delay-over-budget",
    heading="Kafka Connect",
    title="The delay alone is longer than a task may stand still",
    what="A budget on longest_task_pause is shorter than the session and "
    "scheduled.rebalance.max.delay.ms of the workers together.",
    why="The work of a worker that is lost, or leaves cleanly, waits for the whole delay, five "
    "minutes by default, whether the worker comes back meanwhile or not. Before that its "
    "session must run out.",
    fix="Set the delay to what may stand still less the session, but not below what a restart "
    "takes; where that cannot be, 0.",
    example='scheduled.rebalance.max.delay.ms: 5m\nbudgets: {longest_task_pause: "<= 1m"}',
    source="IncrementalCooperativeAssignor.handleLostAssignments (KIP-415).",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    config = incremental_config(scenario)
    if config is None:
        return
    delay, session = config.scheduled_rebalance_max_delay_us, config.session_timeout_us
    limits = [
        b.limit
        for b in scenario.budgets
        if b.metric == "longest_task_pause"
        and b.op in ("<=", "<")
        and not b.relative_to
        and b.variant in ("", scenario.variant)
    ]
    if not limits or not delay or (unknown := _detection(scenario, session)) is None:
        return
    if min(limits) < delay + unknown:
        left = max(0.0, min(limits) - unknown - config.heartbeat_interval_us)
        first = f"the session of {say(unknown)} and " if unknown else ""
        yield Finding(
            f"the work of a lost worker waits for {first}{KEY} "
            f"{say(delay)}, longer than the {say(min(limits))} that a budget allows — write "
            f"{say_setting(left // (5 * SECOND) * 5 * SECOND)}, or a longer budget",
            Place("connect", "", KEY),
            fix=((KEY, say_setting(left // (5 * SECOND) * 5 * SECOND)),),
        )


def _detection(scenario: Scenario, session: int) -> int | None:
    """How long nobody knows of the worst that the script does to a worker; None if it takes none
    away.
    """
    workers = {c.name for c in workers_of(scenario)}
    found = [
        session if isinstance(action.deed, Crash) else 0
        for action in scenario.script
        if isinstance(action.deed, Crash | Leave | RollingBounce)
        and workers & set(action.deed.consumers)
    ]
    return max(found, default=None)
