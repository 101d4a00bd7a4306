"""Whether a real Spark is to be had here: where there is none, a loud skip (a failure under
CI=true).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rebalsim.domain.errors import Missing
from rebalsim.spark.java import check_spark

ROOT = Path(__file__).resolve().parents[2]


def spark_or_skip() -> None:
    try:
        check_spark()
    except Missing as e:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have Spark: {e}")
        pytest.skip(f"SPARK TESTS ARE NOT RUN: {e}")
