"""The two ways in which Spark can be handed the runs, beside each other: the Python Data Source,
which sweeps use, and mapInArrow.
"""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from rebalsim.domain.sweep import Plan
from rebalsim.scenario.grid import Order
from rebalsim.spark.bundle import bundle_of, order_as_json
from rebalsim.spark.mapped import mapped_runs
from rebalsim.spark.source import register

TASKS = 8


def measure_both(
    spark: Any, plan: Plan, order: Order, folder: Path, rounds: int
) -> tuple[float, float] | None:
    """Seconds of the Data Source and of mapInArrow for the same runs in the same tasks, written
    as Parquet; by turns, so that what else the machine does falls upon both. None without
    pandas, which mapInArrow asks for.
    """
    if importlib.util.find_spec("pandas") is None:
        return None
    register(spark)
    slices = [[order.size * i // TASKS, order.size * (i + 1) // TASKS] for i in range(TASKS)]
    job = json.dumps({**bundle_of(plan), "order": order_as_json(order), "slices": slices})
    spent = [0.0, 0.0]
    for number in range(rounds + 1):  # the first round warms
        for way in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            frame = (
                mapped_runs(spark, plan, order, TASKS)
                if way
                else spark.read.format("rebalsim").option("bundle", job).load()
            )
            frame.write.mode("overwrite").parquet(str(folder / f"way{way}"))
            if number:
                spent[way] += time.perf_counter() - began
    return spent[0], spent[1]
