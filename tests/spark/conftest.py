"""One local Spark for all tests; where there is none, a loud skip (a failure under CI=true)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real_spark import spark_or_skip

from rebalsim.domain.sweep import Plan

PLAN = """\
title: Which session timeout
scenario: scale-out
axes:
  group.config.session.timeout.ms: {as: session, values: [6s, 10s, 45s]}
  group.config.heartbeat.interval.ms: {as: heartbeat, values: [1s, 3s, 8s]}
  group.members: [1, 2]
where: session > 6s or heartbeat < 3s or heartbeat == 8s
seeds: 4
budgets:
  longest_pause: "<= 2s"
  cooperative: {rebalances: "<= 2"}
minimise: [cost, p95 longest_pause]
costs: {member_hour: 0.1}
"""


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    spark_or_skip()
    from rebalsim.spark.session import start_session, stop_session

    session = start_session("local[2]", {"spark.sql.warehouse.dir": "/nonexistent"}, is_brief=True)
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def plan_text() -> str:
    return PLAN


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.fixture
def plan(plan_file: Path) -> Plan:
    from rebalsim.spark.plans import load_plan

    return load_plan(plan_file)
