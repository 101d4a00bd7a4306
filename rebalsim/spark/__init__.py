"""Many runs: everything that knows Spark. It plans, distributes, retries, aggregates, reads and
writes; what a run is and means lies elsewhere.
"""

from __future__ import annotations

from typing import Any


def register(spark: Any) -> None:
    """Teach a session `format("rebalsim")`, `format("rebalsim-logs")` and the SQL function `rebalsim(…)`. Classic Spark and
    Spark Connect alike.

    Switches on that filters reach Python sources, in this session: Spark refuses a source that
    takes filters while that is off.
    """
    from rebalsim.spark.function import register_function
    from rebalsim.spark.logs_source import LogsSource
    from rebalsim.spark.source import register as register_source

    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    register_source(spark)
    register_function(spark)
    spark.dataSource.register(LogsSource)


__all__ = ["register"]
