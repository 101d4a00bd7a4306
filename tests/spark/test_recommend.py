"""The search for the smallest change, on Spark: against a search by hand, and the faults of a
day against runs by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis.measure import measure
from rebalsim.one_run import run_once
from rebalsim.spark import recommend, sweep_job
from rebalsim.spark.answers import Asker
from rebalsim.spark.plans import find_base, story_of_base

pytestmark = pytest.mark.spark
OVER = ("session.timeout.ms", "max.poll.records")


def test_the_smallest_change_is_the_one_that_a_search_by_hand_finds(
    spark: Any, tmp_path: Path
) -> None:
    base = find_base("crash", Path())
    story = story_of_base(base, "")
    plan = recommend.plan_for(base, story, ("longest_pause <= 20s",), OVER, ("eager",), 2)
    job = sweep_job.prepare(spark, plan, str(tmp_path / "out"), probe_s=1.0)
    sweep_job.play(spark, job)
    sweep_job.conclude(spark, job)
    asker = Asker(sweep_job.tables_of(spark, plan, job.store))
    now = recommend.as_it_is(asker, ("eager",))
    assert now is not None and now.verdict == "fail" and now.at["session_timeout_ms"] == "45s"
    found = recommend.choices(asker, story, OVER, ("eager",))
    by_hand = []
    for session in ("6s", "10s", "15s", "20s", "30s", "60s"):
        changed = story.with_overrides([f"group.config.session.timeout.ms={session}"]).scenario(
            "eager"
        )
        worst = max(
            measure(run_once(changed, seed).analysis, "longest_pause") or 0 for seed in (1, 2)
        )
        if worst <= 20_000_000:
            by_hand.append((abs(recommend._turned("45s", session)), session))
    assert [(t.name, t.before, t.after) for t in found[0].turns] == [
        ("session.timeout.ms", "45s", min(by_hand)[1])
    ]
    assert all(len(c.turns) == 1 for c in found), "more records besides would be no alternative"

    fault = ("freeze", "20m", "{median: 2s, p99: 20s}")
    day = recommend.day_of_faults(
        base, fault, {"as it is": (), "recommended": found[0].point.settings}, "eager", 1
    )
    second = sweep_job.prepare(spark, day, str(tmp_path / "faults"), probe_s=0.5)
    sweep_job.play(spark, second)
    sweep_job.tables_of(spark, day, second.store).write()
    told = recommend.expelled(Asker(sweep_job.tables_of(spark, day, second.store)), fault)
    quiet = [
        "script=[]",
        "horizon=24h",
        "budgets={}",
        "expect=[]",
        "random_faults=[{kind: freeze, members: all, about_every: 20m, for: {median: 2s, p99: "
        "20s}, from: 1m}]",
    ]
    for settings, count in (
        ([], told.before),
        ([f"{p}={v}" for p, v in found[0].point.settings], told.after),
    ):
        analysis = run_once(story.with_overrides([*quiet, *settings]).scenario("eager"), 1).analysis
        assert count == measure(analysis, "members_removed")
    assert told.after > told.before


CONSUMER = (
    "topics: {orders: 4}\ngroup: {members: 2, config: {group.protocol: consumer}}\nreplay: "
    "[as-written]\nhorizon: 1m\n"
)


def test_under_the_consumer_protocol_the_brokers_settings_are_searched_with_twenty_seeds(
    tmp_path: Path,
) -> None:
    """Their lower bounds are lowered for all points, else nothing below Kafka's defaults could
    be played.
    """
    (tmp_path / "s.yaml").write_text(CONSUMER, encoding="utf-8")
    base = find_base(str(tmp_path / "s.yaml"), Path())
    story = story_of_base(base, "")
    assert (
        recommend.is_of_brokers(story, "as-written")
        and recommend.seeds_for(story, ("as-written",)) == 20
    )
    plan = recommend.plan_for(
        base, story, ("longest_pause <= 3s",), recommend.USUAL_OF_BROKERS, ("as-written",), 20
    )
    assert [axis.steps[0].settings[0][0] for axis in plan.axes] == [
        f"cluster.config.{name}" for name in recommend.OF_BROKERS
    ]
    assert [axis.steps[0].label for axis in plan.axes] == ["5s", "45s", "1s"], (
        "each ladder begins with what is"
    )
    lowered = story.with_overrides(
        [f"{path}={value}" for path, value in recommend._lowered(recommend.OF_BROKERS).items()]
    )
    for name, values in recommend.OF_BROKERS.items():
        for value in values:
            lowered.with_overrides([f"cluster.config.{name}={value}"]).check()


def test_a_classic_story_is_searched_as_before() -> None:
    story = story_of_base(find_base("crash", Path()), "")
    assert (
        not recommend.is_of_brokers(story, "eager")
        and recommend.seeds_for(story, ("eager", "cooperative")) == 3
    )
