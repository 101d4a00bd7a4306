"""The stock stories are warned of what they are about, and of nothing else."""

from __future__ import annotations

import pytest

from rebalsim.lint.registry import check
from rebalsim.scenario.load import load_scenario, stock_stories

# story → the rules that it is there to show, or knowingly lives with
MEANT: dict[str, tuple[str, ...]] = {
    "cold-start": ("default-list-runs-eager", "initial-delay-under-start-spread"),
    "connect-rolling-upgrade": ("connect-delay-under-restart",),
    "crash-replaced-early": ("restart-before-session-ends",),
    "fenced-twin": ("freeze-outlasts-session",),
    "autoscaler-oscillates": (
        "default-list-runs-eager",
        "dynamic-in-statefulset",
        "lag-threshold-under-a-rebalance",
        "scale-down-before-settled",
        "slow-listener",
    ),
    "gc-pause": ("freeze-outlasts-session",),
    "migration-back": ("default-list-runs-eager", "dynamic-in-statefulset"),
    "migration-downgrade": (
        "bounce-outpaces-start",
        "direct-assignor-swap",
        "dynamic-in-statefulset",
    ),
    "migration-range-first": ("dynamic-in-statefulset",),
    "migration-refused": ("direct-assignor-swap", "dynamic-in-statefulset"),
    "migration-to-consumer": ("dynamic-in-statefulset",),
    "migration-two-bounces": ("dynamic-in-statefulset",),
    "migration-whole-road": ("dynamic-in-statefulset",),
    "rebalance-storm-chain": ("heavy-batch", "poll-interval-under-worst-batch"),
    "rebalance-storm": (
        "auto-commit-long-batches",
        "heavy-batch",
        "poll-interval-under-worst-batch",
    ),
    "rolling-bounce": ("dynamic-in-statefulset",),
    "scale-in": ("static-scale-down",),
    "slow-member-100": ("heavy-batch",),
    "stateful-handover": ("restore-without-standby", "slow-listener"),
    "static-ghosts": (
        "bounce-outpaces-start",
        "static-ids-of-random-pods",
        "surge-of-dynamic-members",
    ),
    "static-torn-handover": ("slow-listener",),
    "static-membership": ("static-restart-outlives-session",),
    "streams-crash": ("streams-store-without-standby",),
    "streams-fourteen-minutes": ("streams-lag-above-store", "streams-store-without-standby"),
    "streams-lost-volume": ("streams-store-without-standby",),
    "streams-new-protocol": (
        "streams-probing-outlasts-settle",
        "streams-restart-waits-for-session",
    ),
    "streams-rolling-deploy": (
        "streams-probing-outlasts-settle",
        "streams-restart-waits-for-session",
        "streams-store-without-standby",
    ),
    "streams-stuck-instance": ("streams-store-without-standby",),
    "streams-two-bounces": (
        "streams-probing-outlasts-settle",
        "streams-restart-waits-for-session",
    ),
    "stuck-handler": ("static-stuck-waits-twice",),
    "topic-growth": ("latest-on-growing-topic", "slow-metadata-refresh"),
}


@pytest.mark.parametrize("name", stock_stories())
def test_a_stock_story_is_warned_of_what_it_means(name: str) -> None:
    found = sorted({p.rule for p in check(load_scenario(stock_stories()[name]))})
    assert found == sorted(MEANT.get(name, ())), (
        f"{name}: mend the story, or say in MEANT that it means it"
    )


def test_no_story_is_remembered_that_is_gone() -> None:
    assert [name for name in MEANT if name not in stock_stories()] == []
