"""The data source and the SQL function over Spark Connect: in a process of its own, for one
process has one kind of session.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from real_spark import ROOT, spark_or_skip

from rebalsim.domain.sweep import Plan
from rebalsim.spark.player import player_for

pytestmark = pytest.mark.spark

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import rebalsim.spark
spark = SparkSession.builder.remote("local[2]").getOrCreate()
rebalsim.spark.register(spark)
runs = spark.read.format("rebalsim").option("plan", sys.argv[1]).load()
rows = runs.where("members = 2 AND variant = 'cooperative' AND seed <= 2").select("run", "longest_pause").collect()
asked = spark.sql("SELECT variant, longest_pause FROM rebalsim(scenario => 'scale-out', members => 1)").collect()
print("TOLD" + json.dumps([sorted(map(tuple, rows)), sorted(map(tuple, asked)), type(spark).__module__]))
spark.stop()
"""


def test_a_plan_is_a_table_and_a_what_if_a_query_over_connect(plan: Plan, plan_file: Path) -> None:
    spark_or_skip()
    gone = [
        name for name in ("grpc", "grpc_status", "pandas") if importlib.util.find_spec(name) is None
    ]
    if gone:
        pytest.skip(
            f"SPARK CONNECT IS NOT TRIED: no {', '.join(gone)} (pip install 'pyspark[connect]')"
        )
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(plan_file)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
    )
    told = next(
        (line.removeprefix("TOLD") for line in done.stdout.splitlines() if line.startswith("TOLD")),
        None,
    )
    assert told, done.stderr[-2000:]
    rows, asked, kind = json.loads(told)
    player = player_for(plan)
    played = [
        row
        for point in range(plan.points)
        if player.points.is_played(point)
        for seed in (1, 2)
        for row in player.play(point, seed)
    ]
    assert kind.startswith("pyspark.sql.connect")
    assert rows == sorted(
        [row["run"], row["longest_pause"]]
        for row in played
        if row["members"] == 2 and row["variant"] == "cooperative"
    )
    assert [variant for variant, _ in asked] == ["cooperative", "eager"]
