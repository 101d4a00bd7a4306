"""What a fleet's tables come to: the worst groups, who causes it, how it goes by week."""

from __future__ import annotations

from typing import Any

from rebalsim.reports.fleet_told import ALERT_AN_HOUR, Fleet, GroupLine

_MOST = 20
_HOUR_US = 3_600_000_000


def fleet_of(spark: Any, out: str) -> Fleet:
    """The fleet's figures, out of the tables below `out`."""
    place = out.rstrip("/")
    for table in ("rebalances", "pauses", "members"):
        spark.read.parquet(f"{place}/{table}").createOrReplaceTempView(f"rebalsim_{table}")
    spans = spark.sql(
        "SELECT count(DISTINCT `group`) AS n, min(started_us) AS a, max(started_us) AS b, "
        "count(*) AS r FROM rebalsim_rebalances"
    ).first()
    return Fleet(
        groups=int(spans["n"] or 0),
        rebalances=int(spans["r"] or 0),
        days=max(1, round(((spans["b"] or 0) - (spans["a"] or 0)) / 86_400_000_000)),
        worst=_worst(spark),
        causes=_causes(spark),
        weeks=_weeks(spark),
        condemned=_condemned(spark),
    )


def _worst(spark: Any) -> list[GroupLine]:
    rows = spark.sql(
        f"""
        WITH lost AS (
          SELECT `group`, sum(CASE WHEN is_open THEN 0 ELSE ended_us - started_us END) AS us,
                 max(CASE WHEN is_open THEN 0 ELSE ended_us - started_us END) AS longest
          FROM rebalsim_pauses GROUP BY `group`),
        busy AS (
          SELECT `group`, max(n) AS most, sum(n) AS n FROM (
            SELECT `group`, started_us div {_HOUR_US} AS hour, count(*) AS n
            FROM rebalsim_rebalances GROUP BY 1, 2) GROUP BY `group`)
        SELECT busy.`group` AS g, busy.n AS n, busy.most AS most,
               coalesce(lost.us, 0) AS us, coalesce(lost.longest, 0) AS longest
        FROM busy LEFT JOIN lost ON busy.`group` = lost.`group`
        ORDER BY us DESC, n DESC, g LIMIT {_MOST}"""
    ).collect()
    return [
        GroupLine(r["g"], int(r["n"]), int(r["most"]), int(r["us"]), int(r["longest"]))
        for r in rows
    ]


def _causes(spark: Any) -> list[tuple[str, int, int]]:
    rows = spark.sql(
        "SELECT cause, count(*) AS n, sum(CASE WHEN is_open THEN 0 ELSE ended_us - started_us END) "
        "AS us FROM rebalsim_pauses GROUP BY cause ORDER BY us DESC, cause"
    ).collect()
    return [(r["cause"], int(r["n"]), int(r["us"] or 0)) for r in rows]


def _weeks(spark: Any) -> list[tuple[str, int, int]]:
    rows = spark.sql(
        """
        SELECT week, sum(n) AS n, sum(us) AS us FROM (
          SELECT date_format(date_trunc('WEEK', to_date(day)), 'yyyy-MM-dd') AS week, 1 AS n, 0L AS us
          FROM rebalsim_rebalances
          UNION ALL
          SELECT date_format(date_trunc('WEEK', to_date(day)), 'yyyy-MM-dd'), 0,
                 CASE WHEN is_open THEN 0L ELSE ended_us - started_us END
          FROM rebalsim_pauses) GROUP BY week ORDER BY week"""
    ).collect()
    return [(r["week"], int(r["n"]), int(r["us"] or 0)) for r in rows]


def _condemned(spark: Any) -> list[tuple[str, str]]:
    """Groups whose settings hurt by themselves: a session of fewer than three heartbeats."""
    rows = spark.sql(
        "SELECT DISTINCT `group` AS g, session_timeout_ms AS s, heartbeat_interval_ms AS h "
        "FROM rebalsim_members WHERE session_timeout_ms > 0 AND heartbeat_interval_ms > 0 "
        "AND session_timeout_ms < 3 * heartbeat_interval_ms ORDER BY g LIMIT 20"
    ).collect()
    return [
        (r["g"], f"session.timeout.ms {r['s']} is under three heartbeats of {r['h']} ms")
        for r in rows
    ]


__all__ = ["ALERT_AN_HOUR", "fleet_of"]
