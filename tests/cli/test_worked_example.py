"""The worked example of docs/builds.md: a repository with three scenarios, three harmful changes, and a
build that fails on the right line with the reason.
"""

from __future__ import annotations

import pytest
from checking import Repository

from rebalsim.cli import exits

RESTART = """\
title: A pod restarts in place
topics: {orders: {partitions: 12, rate: 600/s}}
group:
  members: {"pod-{n}": {count: 3}}
  group.instance.id: "{name}"
  config:
    session.timeout.ms: 60s
    partition.assignment.strategy: [cooperative-sticky]
  handler: 1ms
script:
  - at: 1m
    rolling_bounce: {members: pod-0, down: 35s}
replay: [as-written]
horizon: 3m
budgets:
  rebalances: "== 0"            # the others must not notice
  longest_pause: "<= 40s"
"""
SCALE_OUT = """\
title: One consumer more at noon
topics: {orders: {partitions: 12, rate: 600/s}}
group:
  members: 3
  config:
    partition.assignment.strategy: [cooperative-sticky]
  handler: 1ms
  listener: {on_assigned: 500ms/partition}    # warming a cache
script:
  - {at: 1m, scale: 4}
replay: [as-written]
horizon: 2m
budgets:
  partitions_touched: "<= 3"    # only what moves may stop
  longest_pause: "<= 5s"
"""
DEPLOY = """\
title: Rolling deploy of six pods
topics: {orders: {partitions: 24, rate: 1200/s}}
group:
  members: {"pod-{n}": {count: 6}}
  group.instance.id: "{name}"
  config: {session.timeout.ms: 60s, partition.assignment.strategy: [cooperative-sticky]}
  handler: 1ms
script:
  - at: 1m
    id: deploy
    rolling_bounce: {max_unavailable: 1, down: 35s, ready_when: assigned, settle: 5s}
replay: [as-written]
horizon: 8m
budgets:
  lag_peak: "<= 10,000"         # what the shop sees as late orders
  rebalances: "== 0"
"""
FILES = {"pod-restart": RESTART, "scale-out": SCALE_OUT, "deploy": DEPLOY}
# file → the change, the line that must be named, and what a colleague reads
HARM = {
    "pod-restart": (
        ("session.timeout.ms: 60s", "session.timeout.ms: 30s"),
        "rebalances",
        (
            "2 rounds because pod-0 joined; 1 round because pod-0's session ran out",
            "→ session.timeout.ms 30s → 45s: rebalances 3 → 0 (tried over 20 seeds)",
        ),
    ),
    "scale-out": (
        ("[cooperative-sticky]", "[range, cooperative-sticky]"),
        "partitions_touched",
        (
            "partitions_touched <= 3 12",
            "4 members offer cooperative-sticky, but another assignor of the list was chosen",
            "→ partition.assignment.strategy [range, cooperative-sticky] → [cooperative-sticky]: "
            "partitions touched 12 → 3",
        ),
    ),
    "deploy": (
        ("max_unavailable: 1", "max_unavailable: 3"),
        "lag_peak",
        (
            "lag_peak <= 10,000 21,0",
            "12 partitions stood still at once, of pod-",
            "stood still for 35.0 s when pod-",
            "restarted under its static id (deploy)",
            "→ the deploy restarts one at a time (max_unavailable 3 → 1): lag at its peak",
        ),
    ),
}


@pytest.fixture
def shop(repository: Repository) -> Repository:
    (repository.root / "scenarios/deploy.yaml").unlink()
    for name, text in FILES.items():
        repository.write(f"deploy/{name}.yaml", text)
    return repository


def test_the_three_scenarios_keep_their_budgets(shop: Repository) -> None:
    assert shop.check("deploy", "--require-budgets") == exits.WITHIN
    assert "3 scenarios: 6 budgets kept." in shop.out


@pytest.mark.slow
@pytest.mark.parametrize("name", HARM)
def test_a_harmful_change_fails_on_the_right_line_with_the_reason(
    shop: Repository, name: str
) -> None:
    (old, new), metric, sentences = HARM[name]
    text = FILES[name].replace(old, new)
    assert text != FILES[name]
    shop.write(f"deploy/{name}.yaml", text)
    assert shop.check("deploy", is_advised=True) == exits.BROKEN
    line = next(
        i
        for i, written in enumerate(text.splitlines(), 1)
        if written.strip().startswith(f"{metric}:")
    )
    told = " ".join(shop.out.split())
    assert f"at deploy/{name}.yaml:{line} " in told
    assert [s for s in sentences if s not in told] == []
    assert "5 budgets kept, 1 budget broken" in told
