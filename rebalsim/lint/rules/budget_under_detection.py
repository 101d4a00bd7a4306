"""A budget for the longest pause that detection alone breaks: a crash is not known before the
session has run out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash
from rebalsim.lint.facts import (
    heartbeat_us,
    is_classic,
    is_static,
    named,
    say,
    session_key,
    session_us,
)
from rebalsim.lint.figures import high, low
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, restart_us

RULE = Rule(
    id="budget-under-detection",
    heading="The story itself",
    title="The budget is shorter than a crash goes unnoticed",
    what="A budget bounds longest_pause below session.timeout.ms less one heartbeat interval, and "
    "the script crashes a member that does not "
    "come back in time under a static id.",
    why="A killed process says nothing. The coordinator knows only when the session has run out "
    "since the last heartbeat, so its partitions "
    "stand still for session.timeout.ms less the age of that heartbeat at the very least, before "
    "any rebalance begins. No assignor and "
    "no protocol changes that.",
    fix="Shorten session.timeout.ms below the budget (mind freezes and cuts), or raise the "
    "budget. Under the consumer protocol the broker's "
    "group.consumer.session.timeout.ms decides, and 45 s is its lower bound unless that is "
    "changed too.",
    example=(
        "session.timeout.ms: 45s\n"
        'budgets: {longest_pause: "<= 30s"}\n'
        "# a crash alone takes 42 s to be noticed"
    ),
    source="GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat; KIP-848 for the broker's "
    "bounds.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    unnoticed: list[
        tuple[int, str, str, str]
    ] = []  # how long, whose, which setting says so, by which action
    for action, deed in deeds_of(scenario, Crash):
        for consumer in named(scenario, deed.consumers):
            session = session_us(scenario, consumer)
            if (
                is_static(consumer)
                and deed.restart_after is not None
                and restart_us(consumer, high(deed.restart_after)) < session
            ):
                continue
            dark = session - heartbeat_us(scenario, consumer)
            if deed.restart_after is not None and is_classic(consumer):
                # its return opens a rebalance, which the join timer ends without the ghost
                dark = min(
                    dark, round(low(deed.restart_after)) + consumer.config.max_poll_interval_us
                )
            unnoticed.append((dark, consumer.name, session_key(consumer), action.id))
    for budget in scenario.budgets:
        if budget.metric != "longest_pause" or budget.op not in ("<", "<=") or budget.relative_to:
            continue
        if (
            budget.variant not in ("", scenario.variant)
            or budget.members
            or budget.topics
            or budget.from_us is not None
            or budget.until_us is not None
        ):
            continue
        asked = [found for found in unnoticed if not budget.action or found[3] == budget.action]
        worst, who, key, _ = max(asked, key=lambda found: found[0], default=(0, "", "", ""))
        if worst > budget.limit:
            yield Finding(
                f"the budget longest_pause {budget.op} {say(budget.limit)} cannot be kept: that "
                f"{who} crashed goes unnoticed for at least "
                f"{say(worst)} ({key} less a heartbeat interval) — shorten {key} below "
                f"{say(budget.limit)}, or raise the budget",
                Place("budget", budget.metric, line=budget.line, column=budget.column),
            )
