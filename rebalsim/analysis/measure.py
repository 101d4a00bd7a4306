"""Measures the registry's metrics on an analysis, over all of it or a selection. None means that
the trace cannot tell.
"""

from __future__ import annotations

from rebalsim.analysis import (
    measure_pauses,
    measure_rebalances,
    measure_records,
    measure_scaling,
    measure_streams,
    measure_tasks,
)
from rebalsim.analysis.findings import Findings
from rebalsim.analysis.selecting import (
    Measure,
    once,
    selected_disturbances,
    selected_pauses,
    selected_rebalances,
)
from rebalsim.analysis.values import Value
from rebalsim.domain.errors import BugError
from rebalsim.domain.metrics import EVERYTHING, METRICS, Selection

__all__ = ["Value", "measure", "selected_disturbances", "selected_pauses", "selected_rebalances"]


def measure(analysis: Findings, metric: str, selection: Selection = EVERYTHING) -> Value:
    """The metric's value in its base unit (µs, partition-µs, or a plain number)."""
    found = _MEASURES.get(metric)
    if found is None:
        raise BugError(f"The metric {metric} is registered nowhere")
    if selection is EVERYTHING:  # the usual case: sweeps ask for it millions of times
        known = analysis.measured
        if metric not in known:
            known[metric] = found(analysis, selection)
        return known[metric]
    value: Value = once(analysis, f"metric {metric}", selection, lambda: found(analysis, selection))
    return value


def _of_clients(name: str) -> Measure:
    """Kafka's own metric, of the member where it is highest."""
    return lambda a, s: max(
        (
            v
            for c, values in a.client_metrics.items()
            if (not s.members or c in s.members) and (v := values.get(name)) is not None
        ),
        default=None,
    )


_MEASURES: dict[str, Measure] = {
    **measure_pauses.MEASURES,
    **measure_rebalances.MEASURES,
    **measure_records.MEASURES,
    **measure_scaling.MEASURES,
    **measure_streams.MEASURES,
    **measure_tasks.MEASURES,
    **{m.name: _of_clients(m.kafka_name) for m in METRICS.values() if m.kafka_name},
}

if _MEASURES.keys() != METRICS.keys():
    raise BugError(
        f"Metrics registered and measured differ: {sorted(_MEASURES.keys() ^ METRICS.keys())}"
    )
