"""Budgets and expectations as values with their place, on metrics that exist."""

from __future__ import annotations

import pytest
from stories import messages, told

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.instants import SECOND
from rebalsim.scenario.budgets import limit_of
from rebalsim.scenario.document import Scalar
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import Source

HEAD = "topics: {orders: 4}\ngroup: {members: 3}\nscript: [{at: 1m, id: grow, scale: 4}]\n"


def budgets(text: str) -> tuple[Budget, ...]:
    return told(f"{HEAD}budgets: {text}\n").check().budgets


@pytest.mark.parametrize(
    ("limit", "op", "amount", "unit", "relative"),
    [
        ("<= 2s", "<=", 2 * SECOND, "duration", ""),
        ("≤ 2s", "<=", 2 * SECOND, "duration", ""),
        ("< 1m30s", "<", 90 * SECOND, "duration", ""),
        (">= 3", ">=", 3, "count", ""),
        ("== 0", "==", 0, "count", ""),
        ("<= 42,000", "<=", 42_000, "count", ""),
        ("<= 5%", "<=", 0.05, "share", ""),
        ("<= 10MB", "<=", 10_000_000, "bytes", ""),
        ("<= 5/h", "<=", 5 / 3600, "rate", ""),
        ("<= 0.5 × eager", "<=", 0.5, "factor", "eager"),
        ("<= 2x eager", "<=", 2, "factor", "eager"),
        ("<= baseline + 5%", "<=", 1.05, "factor", "baseline"),
        ("< eager - 10%", "<", 0.9, "factor", "eager"),
        ("<= eager", "<=", 1, "factor", "eager"),
        ("> 1.5", ">", 1.5, "count", ""),
    ],
)
def test_a_limit_is_a_side_and_an_amount(
    limit: str, op: str, amount: float, unit: str, relative: str
) -> None:
    out = Problems()
    found = limit_of(
        Scalar(Source("a.yaml", limit), 1, 1, 1, limit, True), ("eager", "cooperative"), out
    )
    assert found is not None and out.items == []
    assert (found[0], found[2], found[3]) == (op, unit, relative)
    assert found[1] == pytest.approx(amount)


def test_metrics_are_the_registrys_and_limits_their_amounts() -> None:
    found = budgets(
        '{rebalance-latency-max: "<= 2s", rebalances_per_hour: ["<= 5", "<= 6/h"], '
        'rebalancing_share: "<= 5%", longest_pause: "== 0"}'
    )
    assert [b.metric for b in found] == [
        "rebalance_latency_max",
        "rebalances_per_hour",
        "rebalances_per_hour",
        "rebalancing_share",
        "longest_pause",
    ]
    assert [b.limit for b in found] == pytest.approx([2 * SECOND, 5, 6, 0.05, 0])
    assert "did you mean 'longest_pause'?" in messages(HEAD + 'budgets: {longest_puase: "<= 2s"}\n')
    assert "is measured in time, and '<= 2' is not — write one such as" in messages(
        HEAD + 'budgets: {longest_pause: "<= 2"}\n'
    )
    assert "is measured in plain numbers, and '<= 2s' is not" in messages(
        HEAD + 'budgets: {rebalances: "<= 2s"}\n'
    )


def test_budgets_stand_for_all_variants_or_for_one() -> None:
    found = budgets('{longest_pause: "<= 2s", cooperative: {rebalances: ["<= 4", ">= 1"]}}')
    assert [(b.metric, b.variant) for b in found] == [
        ("longest_pause", ""),
        ("rebalances", "cooperative"),
        ("rebalances", "cooperative"),
    ]
    assert (found[0].line, found[0].column) == (4, 11)


def test_a_budget_in_a_list_has_its_options_beside_it() -> None:
    (budget,) = budgets(
        '[{lag_peak: "<= 10", variant: eager, topic: orders, members: [c0], from: 5s, until: 1m, '
        "action: grow, seeds: p95, level: warn}]"
    )
    assert (budget.variant, budget.topics, budget.members, budget.action, budget.level) == (
        "eager",
        ("orders",),
        ("c0",),
        "grow",
        "warn",
    )
    assert (budget.from_us, budget.until_us, budget.percentile) == (5 * SECOND, 60 * SECOND, 95.0)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("at 41s: orders-3 owned by c2", ("owned-by", "orders-3", "c2", 41 * SECOND, 41 * SECOND)),
        (
            "orders-3 is owned by c2 at 41s",
            ("owned-by", "orders-3", "c2", 41 * SECOND, 41 * SECOND),
        ),
        ("no rebalance between 10s and 60s", ("no-rebalance", "", "", 10 * SECOND, 60 * SECOND)),
        ("no rebalance in group after 10s", ("no-rebalance", "group", "", 10 * SECOND, None)),
        ("c1 is fenced", ("fenced", "c1", "", None, None)),
        ("c1 is never fenced", ("not-fenced", "c1", "", None, None)),
        ("c1 is removed before 1m", ("removed", "c1", "", None, 60 * SECOND)),
        ("orders-0 is unowned at 500ms", ("unowned", "orders-0", "", 500_000, 500_000)),
        ("group is stable at 5m", ("stable", "group", "", 300 * SECOND, 300 * SECOND)),
    ],
)
def test_a_fact_is_a_sentence(
    fact: str, expected: tuple[str, str, str, int | None, int | None]
) -> None:
    (found,) = told(f"{HEAD}expect:\n  - {fact}\n").check().expectations
    assert isinstance(found, Expectation)
    assert (found.fact, found.subject, found.object, found.from_us, found.until_us) == expected
    assert (found.line, found.column) == (5, 5) and found.text == fact


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{longest_pause: 2s}", 'write "<= 2s"'),
        ('{longest_pause: "<= 1:30"}', "is no amount"),
        ('{egaer: {rebalances: "<= 1"}}', "did you mean 'eager'?"),
        ('{longest_pause: "<= 0.5 × egaer"}', "did you mean 'eager'?"),
        ('{longest_pause: {limit: "<= 2s", action: grwo}}', "did you mean 'grow'?"),
        ('{longest_pause: {limit: "<= 2s", topic: order}}', "did you mean 'orders'?"),
        ('{longest_pause: {limt: "<= 2s", level: warn}}', "did you mean 'limit'?"),
        ("5", "is no budget"),
    ],
)
def test_a_wrong_budget_is_told(text: str, wrong: str) -> None:
    assert wrong in messages(f"{HEAD}budgets: {text}\n")
