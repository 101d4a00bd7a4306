"""Sweeps on a real Spark: the tables, what they hold, and that a broken-off sweep ends as an
undisturbed one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from rebalsim.domain.errors import InputError
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.sweep import Plan
from rebalsim.one_run import run_once
from rebalsim.scenario.grid import Order
from rebalsim.spark import sweep_job
from rebalsim.spark.answers import Asker
from rebalsim.spark.player import player_for
from rebalsim.spark.store import Store
from rebalsim.spark.sweep import Cutting, Sweep
from rebalsim.spark.tables import SUMMARY

pytestmark = pytest.mark.spark


def cutting_of(plan: Plan, with_pauses: bool = False) -> Cutting:
    """Small tasks and several chunks, whatever the machine's mood."""
    order = Order(plan.radices, plan.seeds, tuple((1.0,) * r for r in plan.radices), 0.01)
    return Cutting(order, 0.1, 0.2, with_pauses)


def swept(spark: Any, plan: Plan, out: Path, with_pauses: bool = False) -> Store:
    store = Store(spark, str(out))
    store.prepare()
    job = sweep_job.Job(plan, store, cutting_of(plan, with_pauses), False)
    from rebalsim.spark.bundle import bundle_of

    store.write_manifest({**bundle_of(plan), **job.cutting.as_json()})
    sweep_job.play(spark, job)
    sweep_job.tables_of(spark, plan, store).write()
    return store


def rows_of(spark: Any, store: Store, table: str) -> list[dict[str, Any]]:
    """A small table's rows in the order in which they are stored."""
    return [row.asDict(recursive=True) for row in spark.read.parquet(store.path(table)).collect()]


def runs_of(spark: Any, plan: Plan, store: Store) -> list[dict[str, Any]]:
    rows = [
        row.asDict(recursive=True)
        for row in sweep_job.tables_of(spark, plan, store).runs().collect()
    ]
    return sorted(rows, key=lambda r: (r["point"], r["variant"], r["seed"]))


@pytest.fixture(scope="module")
def done(
    spark: Any, plan_text: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Plan, Store]:
    from rebalsim.spark.plans import load_plan

    folder = tmp_path_factory.mktemp("sweep")
    (folder / "plan.yaml").write_text(plan_text, "utf-8")
    plan = load_plan(folder / "plan.yaml")
    return plan, swept(spark, plan, folder / "out", with_pauses=True)


def test_the_table_of_runs_is_run_once_of_every_point(spark: Any, done: tuple[Plan, Store]) -> None:
    plan, store = done
    rows = runs_of(spark, plan, store)
    player = player_for(plan)
    played = [p for p in range(plan.points) if player.points.is_played(p)]
    assert [(r["point"], r["variant"], r["seed"]) for r in rows] == [
        (p, v, s) for p in played for v in ("cooperative", "eager") for s in (1, 2, 3, 4)
    ]
    for row in rows[::7]:
        if row["error_kind"] is None:
            mine = next(
                r for r in player.play(row["point"], row["seed"]) if r["variant"] == row["variant"]
            )
            assert {k: row[k] for k in mine} == mine
            analysis = run_once(player.scenario(row["point"], row["variant"]), row["seed"]).analysis
            assert row["longest_pause"] == max(p.length_us for p in analysis.pauses)
    bad = [r for r in rows if r["error_kind"] == "impossible"]
    assert {r["point"] for r in bad} == {4, 5} and len(bad) == 16


def test_points_and_budgets_are_what_the_runs_say(spark: Any, done: tuple[Plan, Store]) -> None:
    plan, store = done
    runs: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    for row in runs_of(spark, plan, store):
        runs[row["point"], row["variant"]].append(row)
    points = rows_of(spark, store, "points")
    assert [(p["point"], p["variant"]) for p in points] == sorted(runs)
    for point in points:
        mine = runs[point["point"], point["variant"]]
        if any(r["error_kind"] for r in mine):
            assert (point["verdict"], point["errors"], point["longest_pause_p95"]) == (
                "error",
                4,
                None,
            )
            continue
        for name in SUMMARY:
            known = sorted(r[name] for r in mine if r[name] is not None)
            assert point[f"{name}_p50"] == percentile(known, 50), name
            assert point[f"{name}_p95"] == percentile(known, 95), name
            assert point[f"{name}_worst"] == (known[-1] if known else None), name
        broken = sorted({b["budget"] for r in mine for b in r["budgets"] if b["verdict"] == "fail"})
        assert point["broken"] == broken
        assert (point["verdict"] == "fail") == bool(broken)
        assert point["pass_share"] == sum(r["verdict"] == "pass" for r in mine) / 4
        assert point["objective_2"] == percentile(sorted(r["longest_pause"] for r in mine), 95)
        assert point["objective_1"] == pytest.approx(sum(r["cost_per_hour"] for r in mine) / 4)
    for budget in rows_of(spark, store, "budgets"):
        mine = [
            b
            for r in runs[budget["point"], budget["variant"]]
            for b in r["budgets"]
            if b["budget"] == budget["budget"]
        ]
        assert budget["worst"] == budget["observed"] == max(b["observed"] for b in mine)
        assert budget["pass_share"] == sum(b["verdict"] == "pass" for b in mine) / 4
        assert budget["verdict"] == (
            "fail" if any(b["verdict"] == "fail" for b in mine) else "pass"
        )


def test_the_front_is_what_nothing_else_beats_that_meets_the_budgets(
    spark: Any, done: tuple[Plan, Store]
) -> None:
    _, store = done
    every = [p for p in rows_of(spark, store, "points") if p["verdict"] != "error"]
    points = [p for p in every if p["verdict"] == "pass"] or every
    assert not any(p["is_on_front"] for p in every if p not in points)
    front = [p for p in points if p["is_on_front"]]
    outcome = {id(p): (p["objective_1"], p["objective_2"]) for p in points}
    for p in points:
        a = outcome[id(p)]
        is_beaten = any(b[0] <= a[0] and b[1] <= a[1] and b != a for b in outcome.values())
        assert p["is_on_front"] == (not is_beaten)
    assert front


def test_pauses_add_up(spark: Any, done: tuple[Plan, Store]) -> None:
    plan, store = done
    pauses = rows_of(spark, store, "pauses")
    runs = runs_of(spark, plan, store)
    assert len(pauses) == sum(r["pauses"] or 0 for r in runs) > 0
    by_run: dict[str, int] = defaultdict(int)
    for pause in pauses:
        by_run[f"{pause['point']}-{pause['variant']}-{pause['seed']}"] += (
            pause["ended_us"] - pause["started_us"]
        )
    for run in runs:
        assert by_run.get(run["run"], 0) == (run["partition_seconds"] or 0)


def test_the_answer_names_the_cheapest_and_what_moves_the_result(
    spark: Any, done: tuple[Plan, Store]
) -> None:
    plan, store = done
    answer = Asker(sweep_job.tables_of(spark, plan, store)).answer()
    points = rows_of(spark, store, "points")
    passing = sorted(
        (p["objective_1"], p["objective_2"], p["point"], p["variant"])
        for p in points
        if p["verdict"] == "pass"
    )
    assert [(p.number, p.variant) for p in answer.best] == [(n, v) for _, _, n, v in passing]
    assert (answer.points, answer.passing, answer.erring, answer.runs) == (
        len(points),
        len(passing),
        4,
        4 * len(points),
    )
    assert answer.is_all_shown and len(answer.shown) == len(points)
    widths = [bar.width for bar in answer.tornado]
    assert widths == sorted(widths, reverse=True)
    heartbeat = next(bar for bar in answer.tornado if bar.axis == "heartbeat")
    for value in heartbeat.values:
        mine = [
            p["objective_2"]
            for p in points
            if p["heartbeat"] == {"1s": 1e6, "3s": 3e6, "8s": 8e6}[value.value]
            and p["verdict"] != "error"
        ]
        assert value.mean == pytest.approx(sum(mine) / len(mine))
    curve = answer.curves[f"{answer.best[0].number}-{answer.best[0].variant}"]
    assert curve == sorted(curve) and len(curve) == 21


def test_columns_carry_their_meaning(spark: Any, done: tuple[Plan, Store]) -> None:
    plan, store = done
    fields = {f.name: f for f in sweep_job.tables_of(spark, plan, store).runs().schema.fields}
    for name, metric in METRICS.items():
        assert fields[name].metadata["comment"].startswith(metric.meaning)


def test_the_tables_are_as_they_are_described(spark: Any, done: tuple[Plan, Store]) -> None:
    from rebalsim.spark.schemas import described

    plan, store = done
    for table, _, columns in described(plan):
        if "." in table:
            continue
        frame = (
            sweep_job.tables_of(spark, plan, store).runs()
            if table == "runs"
            else spark.read.parquet(store.path(table))
        )
        there = [c for c in frame.columns if c not in ("budgets", "chunk")]
        if table == "points":
            told = [
                name.replace("<metric>", m)
                for c in columns
                for m in (SUMMARY if "<" in c.name else ("",))
                for name in (c.name,)
            ]
            told += [f"{m}{end}" for m in SUMMARY for end in ("_p95", "_worst")] + ["objective_2"]
            assert sorted(there) == sorted(told)
        else:
            assert sorted(there) == sorted(c.name for c in columns), table


def test_a_broken_off_sweep_ends_as_an_undisturbed_one(
    spark: Any, done: tuple[Plan, Store], tmp_path: Path
) -> None:
    plan, undisturbed = done
    store = Store(spark, str(tmp_path / "out"))
    store.prepare()
    sweep = Sweep(spark, plan, store, cutting_of(plan, True))

    class Stop(Exception):
        pass

    def stop(progress: Any) -> None:
        if progress.chunks_done > 0:
            raise Stop

    with pytest.raises(Stop):
        sweep.play(stop, every_s=0.05)
    finished = store.finished_chunks()
    assert 0 < len(finished) < len(list(cutting_of(plan).chunks()))
    # What is there can be read, and is right as far as it goes.
    so_far = runs_of(spark, plan, store)
    whole = runs_of(spark, plan, undisturbed)
    keys = {r["run"] for r in so_far}
    assert so_far == [r for r in whole if r["run"] in keys] and so_far
    before = {
        p: p.stat().st_mtime_ns
        for key in finished
        for p in (tmp_path / "out" / "runs" / f"chunk={key}").iterdir()
    }
    done_again = Sweep(spark, plan, store, cutting_of(plan, True)).play()
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert done_again.skipped_runs == sum(
        s.stop - s.start
        for key, slices in cutting_of(plan).chunks()
        if key in finished
        for s in slices
    )
    sweep_job.tables_of(spark, plan, store).write()
    assert runs_of(spark, plan, store) == whole
    for table in ("points", "budgets", "axes"):
        assert rows_of(spark, store, table) == rows_of(spark, undisturbed, table)

    def in_order(s: Store) -> list[str]:
        return sorted(map(str, rows_of(spark, s, "pauses")))

    assert [p.replace("chunk", "") for p in in_order(store)] == [
        p.replace("chunk", "") for p in in_order(undisturbed)
    ]


def test_what_lies_in_the_folder_is_respected(
    spark: Any, plan: Plan, plan_file: Path, done: tuple[Plan, Store], tmp_path: Path
) -> None:
    _, store = done
    with pytest.raises(InputError, match="holds a sweep already — continue it with --resume"):
        sweep_job.prepare(spark, plan, store.out)
    with pytest.raises(InputError, match="has changed since"):
        sweep_job.prepare(spark, _other(plan_file), store.out, resume=True)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds something already"):
        sweep_job.prepare(spark, plan, str(foreign))
    with pytest.raises(InputError, match="replaces sweeps only"):
        sweep_job.prepare(spark, plan, str(foreign), overwrite=True)
    assert (foreign / "thesis.txt").read_text() == "years of work"
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(InputError, match="is a file — name a folder"):
        sweep_job.prepare(spark, plan, str(file))
    with pytest.raises(InputError, match="cannot be written to"):
        sweep_job.prepare(spark, plan, "/proc/rebalsim")
    with pytest.raises(InputError, match="cannot be reached"):
        sweep_job.prepare(spark, plan, "nosuch://bucket/out")


def _other(plan_file: Path) -> Plan:
    from rebalsim.spark.plans import load_plan

    plan_file.write_text(plan_file.read_text("utf-8").replace("[1, 2]", "[1, 3]"), "utf-8")
    return load_plan(plan_file)


def test_the_manifest_is_the_plan_whatever_becomes_of_the_file(done: tuple[Plan, Store]) -> None:
    from rebalsim.spark.bundle import plan_of
    from rebalsim.spark.run_replay import play_again, read_manifest, read_row

    plan, store = done
    manifest = read_manifest(store.out)
    assert json.loads(json.dumps(manifest)) == manifest
    assert plan_of(manifest) == plan
    for name in ("9-eager-3", "4-cooperative-1"):
        again = play_again(manifest, name, read_row(store.out, name))
        assert again.differing == ()
    row = read_row(store.out, "9-eager-3")
    assert play_again(
        manifest, "9-eager-3", {**row, "longest_pause": row["longest_pause"] + 1}
    ).differing == ("longest_pause",)
