"""What a trace means, as one value: what is found in it, and the metrics measured over that. It is
what renderers, budgets, sweeps and comparisons are fed with.
"""

from __future__ import annotations

from functools import cached_property

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.measure import measure
from rebalsim.analysis.values import Value
from rebalsim.domain.metrics import (
    ALERT_PER_HOUR,
    EVERYTHING,
    HEADLINES,
    HEADLINES_OF_TASKS,
    Selection,
)
from rebalsim.trace.trace import Trace


class Analysis(Findings):
    """One run, explained and measured."""

    @property
    def rebalances_too_often(self) -> bool:
        """More than five rebalances an hour: the usual alert. In a run shorter than an hour so
        many must really have been.
        """
        per_hour = self.measure("rebalances_per_hour")
        return (
            per_hour is not None
            and per_hour > ALERT_PER_HOUR
            and (self.measure("rebalances") or 0) > ALERT_PER_HOUR
        )

    def measure(self, metric: str, selection: Selection = EVERYTHING) -> Value:
        """One metric of the registry, in its base unit; None where the trace cannot tell."""
        return measure(self, metric, selection)

    @cached_property
    def summary(self) -> dict[str, Value]:
        """The headline metrics, in their order; where there are Connect's workers, theirs too."""
        names = HEADLINES + (HEADLINES_OF_TASKS if self.worker_groups else ())
        return {name: measure(self, name) for name in names}


def analyse(trace: Trace, until: int | None = None) -> Analysis:
    """The single entry: what the trace means, up to its horizon or the instant `until` (µs)."""
    return Analysis(trace, until)
