"""For people who live in Spark: the Data Source with its filters, the SQL function, and the
mapping that needs pandas.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rebalsim.spark as rebalsim_on_spark
from rebalsim.domain.sweep import Plan
from rebalsim.spark.player import player_for

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def registered(spark: Any) -> None:
    rebalsim_on_spark.register(spark)


def played(plan: Plan) -> list[dict[str, Any]]:
    """All rows of the plan, played here."""
    player = player_for(plan)
    return [
        row
        for p in range(plan.points)
        if player.points.is_played(p)
        for s in range(1, plan.seeds + 1)
        for row in player.play(p, s)
    ]


def test_a_plan_is_a_table(spark: Any, plan: Plan, plan_file: Path) -> None:
    frame = (
        spark.read.format("rebalsim")
        .option("plan", str(plan_file))
        .option("partitions", "3")
        .load()
    )
    rows = {r["run"]: r.asDict(recursive=True) for r in frame.collect()}
    assert rows == {r["run"]: r for r in played(plan)}


def test_filters_on_what_is_known_are_answered_before_anything_is_played(
    spark: Any, plan: Plan, plan_file: Path
) -> None:
    frame = spark.read.format("rebalsim").option("plan", str(plan_file)).load()
    asked = frame.where(
        "members = 2 AND session > 6000000 AND variant = 'cooperative' AND seed IN (1, 3) AND "
        "NOT heartbeat = 3000000 AND longest_pause > 0"
    )
    plan_text = asked._jdf.queryExecution().executedPlan().toString()
    left = plan_text.split("Filter", 1)[1].split("BatchScan")[0]
    assert "longest_pause" in left
    for pushed in ("members#", "session#", "variant#", "seed#", "heartbeat#"):
        assert pushed not in left, left
    rows = sorted(r["run"] for r in asked.select("run").collect())
    wanted = sorted(
        r["run"]
        for r in played(plan)
        if r["members"] == 2
        and r["session"] > 6_000_000
        and r["variant"] == "cooperative"
        and r["seed"] in (1, 3)
        and r["heartbeat"] != 3_000_000
        and (r["longest_pause"] or 0) > 0
    )
    assert rows == wanted and rows


def test_a_what_if_is_a_query(spark: Any) -> None:
    rows = spark.sql("""SELECT variant, seed, longest_pause, consumers, budgets[0].budget AS budget
                        FROM rebalsim(scenario => 'scale-out', members => 1, session_timeout_ms => '10s', seeds => 2,
                                      sets => 'horizon=3m; topics.orders.rate=50/s')
                        ORDER BY seed, variant""").collect()
    assert [(r["variant"], r["seed"]) for r in rows] == [
        ("cooperative", 1),
        ("eager", 1),
        ("cooperative", 2),
        ("eager", 2),
    ]
    from rebalsim.one_run import run_once
    from rebalsim.scenario.load import load_scenario

    story = load_scenario(
        "scale-out",
        [
            "group.members=1",
            "group.config.session.timeout.ms=10s",
            "horizon=3m",
            "topics.orders.rate=50/s",
        ],
    )
    for row in rows:
        pauses = run_once(story.scenario(row["variant"]), row["seed"]).analysis.pauses
        assert (
            row["longest_pause"] == max((p.length_us for p in pauses), default=0)
            and row["consumers"] == 3
            and row["budget"]
        )


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("rebalsim(scenario => 'nowhere')", "no stock story 'nowhere'"),
        ("rebalsim(members => 3)", "needs a scenario"),
        ("rebalsim(scenario => 'scale-out', memberz => 3)", "did you mean 'members'?"),
        (
            "rebalsim(scenario => 'scale-out', session_timeout_ms => '1s')",
            "is not below session.timeout.ms 1s",
        ),
        ("rebalsim(scenario => 'scale-out', sets => 'horizon')", "write path=value"),
    ],
)
def test_mistakes_in_a_query_are_said(spark: Any, query: str, says: str) -> None:
    with pytest.raises(Exception, match=says):
        spark.sql(f"SELECT * FROM {query}").collect()
