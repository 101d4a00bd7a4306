"""What was measured elsewhere on real Kafkas, and what the same story comes to here."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from rebalsim.analysis.analysis import Analysis
from rebalsim.one_run import run_once
from rebalsim.scenario.load import load_scenario

ROOT = Path(__file__).parent.parent.parent
WORLD, FIGURES = ROOT / "scenarios" / "world", ROOT / "docs" / "how-true-it-is.md"
SECOND = 1_000_000


def played(name: str, variant: str, seed: int | None = None) -> Analysis:
    return run_once(load_scenario(WORLD / f"{name}.yaml").scenario(variant), seed).analysis


def barriers(a: Analysis) -> list[tuple[float, str]]:
    return [
        ((r.barrier_us - r.prepared_us) / SECOND, r.completed_by)
        for r in a.rebalances
        if not r.is_formation
    ]


def test_n1_a_barrier_lasts_the_rebalance_timeout_to_the_millisecond_unless_java_leaves_before() -> (
    None
):
    assert barriers(played("n1-barrier-of-300s", "static"))[0] == (300.0, "timer")
    lasted, by = barriers(played("n1-barrier-of-300s", "java-today"))[0]
    assert by == "removal" and 294.9 < lasted < 295.2


def test_n2_the_same_law_with_half_an_hour() -> None:
    assert barriers(played("n2-barrier-of-30min", "static"))[0] == (1800.0, "timer")


def test_n3_a_lost_instance_is_missed_for_its_session_less_the_age_of_its_heartbeat() -> None:
    found = sorted(
        (played("n3-handover-after-loss", "cooperative", seed).measure("longest_pause") or 0)
        / SECOND
        for seed in range(1, 41)
    )
    assert found[0] >= 42.0 and found[-1] <= 48.1
    assert any(43.5 <= pause <= 44.7 for pause in found)
    assert (
        f"{found[0]:.1f} to {found[-1]:.1f} s, median {median(found):.1f} (40 seeds)"
        in FIGURES.read_text(encoding="utf-8")
    )


def test_n4_whoever_leaves_on_close_is_missed_for_a_heartbeat_and_whoever_does_not_for_a_session() -> (
    None
):
    pauses = played("n4-leave-on-close", "cooperative").pauses
    assert max(p.length_us for p in pauses if p.started_us < 180 * SECOND) > 40 * SECOND
    assert max(p.length_us for p in pauses if p.started_us > 180 * SECOND) < 3.2 * SECOND


def test_n5_one_of_25_leaves_4_percent_of_the_partitions_dark_for_a_session() -> None:
    for variant in ("range", "roundrobin"):
        long = [p for p in played("n5-one-of-25", variant).pauses if p.length_us > 10 * SECOND]
        assert 20 <= len(long) <= 60 and all(
            42 * SECOND <= p.length_us <= 48.1 * SECOND for p in long
        )


def test_n6_a_start_of_several_takes_two_initial_delays() -> None:
    runs = [played("n6-two-initial-delays", "eager", seed) for seed in range(1, 21)]
    assert all(6.0 <= (a.measure("first_settle_time") or 0) / SECOND < 6.1 for a in runs)
    latencies = [
        round((values["rebalance-latency-max"] or 0) / 1000)
        for a in runs
        for values in a.client_metrics.values()
    ]
    assert (
        f"{max(latencies):,} ms at most, {round(sum(latencies) / len(latencies)):,} on average "
        "(20 seeds)" in FIGURES.read_text(encoding="utf-8")
    )
