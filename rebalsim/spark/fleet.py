"""What a fleet's tables come to: the worst groups, who causes it, how it goes by week."""

from __future__ import annotations

from typing import Any

from rebalsim.reports.fleet_told import ALERT_AN_HOUR, Blame, Deploy, Fleet, GroupLine
from rebalsim.spark.fleet_lint import condemned

_MOST = 20
_HOUR_US = 3_600_000_000
_APART_US = 300_000_000  # rebalances further from each other are not of one deploy
_BEFORE_US = 60_000_000  # a pause may begin so long before the group knows of it


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
        deploys=_deploys(spark),
        blamed=_blamed(spark),
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


def _deploys(spark: Any) -> list[Deploy]:
    """Rebalances near each other in which members left and came: a roll, of however many members."""
    rows = spark.sql(
        f"""
        WITH near AS (
          SELECT *, coalesce(started_us - lag(started_us) OVER w > {_APART_US}, true) AS is_first
          FROM rebalsim_rebalances WINDOW w AS (PARTITION BY `group` ORDER BY started_us)),
        numbered AS (
          SELECT *, sum(CASE WHEN is_first THEN 1 ELSE 0 END)
            OVER (PARTITION BY `group` ORDER BY started_us, generation) AS number FROM near),
        rolls AS (
          SELECT `group`, number, min(started_us) AS a,
                 max(greatest(started_us, joined_us, ended_us)) AS b, count(*) AS n,
                 count(DISTINCT CASE WHEN trigger = 'leave' THEN member END) AS gone,
                 sum(CASE WHEN trigger IN ('join', 'static-rejoin') THEN 1 ELSE 0 END) AS came
          FROM numbered GROUP BY `group`, number HAVING gone > 0 AND came > 0)
        SELECT rolls.`group` AS g, a, n, gone,
               coalesce(sum(CASE WHEN is_open THEN 0 ELSE p.ended_us - p.started_us END), 0) AS us
        FROM rolls LEFT JOIN rebalsim_pauses AS p
          ON p.`group` = rolls.`group` AND p.started_us BETWEEN a - {_BEFORE_US} AND b
        GROUP BY rolls.`group`, number, a, n, gone ORDER BY us DESC, a, g LIMIT {_MOST}"""
    ).collect()
    return [Deploy(r["g"], int(r["a"]), int(r["n"]), int(r["gone"]), int(r["us"])) for r in rows]


def _blamed(spark: Any) -> list[Blame]:
    """Whom the pauses are put down to, by the names of consumers."""
    rows = spark.sql(
        f"""
        WITH ids AS (
          SELECT `group`, consumer, explode(split(ids, ' ')) AS id FROM rebalsim_members),
        names AS (SELECT `group`, id, min(consumer) AS consumer FROM ids GROUP BY `group`, id)
        SELECT p.`group` AS g, coalesce(consumer, p.member) AS who, cause, count(*) AS n,
               sum(CASE WHEN is_open THEN 0 ELSE ended_us - started_us END) AS us
        FROM rebalsim_pauses AS p LEFT JOIN names ON names.`group` = p.`group` AND id = p.member
        WHERE p.member <> '' GROUP BY 1, 2, 3 ORDER BY us DESC, g, who, cause LIMIT {_MOST}"""
    ).collect()
    return [Blame(r["g"], r["who"], r["cause"], int(r["n"]), int(r["us"] or 0)) for r in rows]


def _condemned(spark: Any) -> list[tuple[str, str]]:
    """Groups whose printed settings lint condemns."""
    rows = spark.sql(
        "SELECT DISTINCT `group` AS g, settings AS s FROM rebalsim_members WHERE settings <> '{}'"
    ).collect()
    return condemned((r["g"], r["s"]) for r in rows)


__all__ = ["ALERT_AN_HOUR", "fleet_of"]
