"""The other way to the same rows: a grid that is a DataFrame (`spark.range`), mapped by mapInArrow
with the same worker function.

Measured beside the Data Source (`rebalsim bench --only sweep` where pandas is installed; 4 ×
4,000 runs by turns) it takes the same processor time within the few per cent by which a turn
differs from the next, and it needs pandas, which the Data Source does without. So sweeps use the
Data Source, and this stays for the benchmark and for those who have a DataFrame of ranks to
begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebalsim.domain.sweep import Plan
from rebalsim.scenario.grid import Order
from rebalsim.spark.player import play_ranks, player_for
from rebalsim.spark.schemas import runs_ddl


def mapped_runs(spark: Any, plan: Plan, order: Order, tasks: int) -> Any:
    """The plan's runs as a DataFrame; ImportError where pandas is missing."""

    def play(batches: Iterator[Any]) -> Iterator[Any]:
        player = player_for(plan)
        for batch in batches:
            ranks = batch.column(0)
            # Ranks of one batch follow each other: spark.range cuts its range, it does not shuffle
            # it.
            if batch.num_rows:
                yield from play_ranks(
                    player, order, ranks[0].as_py(), ranks[batch.num_rows - 1].as_py() + 1
                )

    return spark.range(0, order.size, 1, tasks).mapInArrow(play, runs_ddl(plan, False))
