"""A budget for the longest pause that detection alone breaks: a crash is not known before the
session has run out.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.budget import Budget
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


def _is_of_all_pauses(budget: Budget, variant: str) -> bool:
    is_at_most = budget.op in ("<", "<=") and not budget.relative_to
    is_whole = budget.from_us is None and budget.until_us is None
    is_of_all = is_whole and not budget.members and not budget.topics
    is_here = budget.variant in ("", variant)
    return budget.metric == "longest_pause" and is_at_most and is_of_all and is_here


def _unnoticed(scenario: Scenario) -> Iterator[tuple[int, str, str, str]]:
    """How long each crash goes unnoticed at least, whose it is, which setting says so, and by which
    action.
    """
    for action, deed in deeds_of(scenario, Crash):
        back = deed.restart_after
        for consumer in named(scenario, deed.consumers):
            session = session_us(scenario, consumer)
            returns = back is not None and restart_us(consumer, high(back)) < session
            if is_static(consumer) and returns:
                continue
            dark = session - heartbeat_us(scenario, consumer)
            if back is not None and is_classic(consumer):
                # its return opens a rebalance, which the join timer ends without the ghost
                dark = min(dark, round(low(back)) + consumer.config.max_poll_interval_us)
            yield dark, consumer.name, session_key(consumer), action.id


def find(scenario: Scenario) -> Iterator[Finding]:
    unnoticed = list(_unnoticed(scenario))
    for budget in scenario.budgets:
        if not _is_of_all_pauses(budget, scenario.variant):
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
