"""Whether a cluster still has a worker for us. Spark itself waits for one without a word and without
end, and a sweep whose cluster went away for good would do so too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rebalsim.spark.session import SparkFailed, local_cores

_LOOK_EVERY_S = 2.0
_TOLD_AFTER_S = 10.0  # a worker that is replaced is away for seconds


class ClusterWatch:
    """Looks from a thread of its own, for a Ctrl-C must not fall into a word with the JVM."""

    def __init__(self, spark: Any, tell: Callable[[str], None], patience_s: float) -> None:
        self._spark, self._tell, self._patience_s = spark, tell, patience_s
        self._alone_since: float | None = None
        self._over = threading.Event()
        self._master = str(spark.sparkContext.master)
        self._thread = threading.Thread(target=self._look, name="cluster-watch", daemon=True)

    def __enter__(self) -> ClusterWatch:
        if not self._master.startswith("local-cluster") and local_cores(self._master) is None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def check(self) -> None:
        """SparkFailed where nobody has been there for longer than we wait."""
        alone_s = self._alone_s()
        if alone_s > self._patience_s:
            raise SparkFailed(
                f"No worker of {self._master} has been there for {alone_s:,.0f} s. What was "
                "written stays readable; continue with --resume when the cluster is back "
                "(--wait-for-workers says how long to wait)."
            )

    def _alone_s(self) -> float:
        since = self._alone_since
        return 0.0 if since is None else time.monotonic() - since

    def _look(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            if executors_of(self._spark):
                self._alone_since = None
            elif self._alone_since is None:
                self._alone_since = time.monotonic()
            alone_s = self._alone_s()
            if alone_s > _TOLD_AFTER_S:
                self._tell(f"Waiting for a worker of {self._master}: none for {alone_s:,.0f} s")


def executors_of(spark: Any) -> int:
    """How many processes of the cluster work for us; none where the context itself is gone."""
    try:
        return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1
    except Exception:
        return 0
