"""KEDA's kafka scaler: from a group's lag to the number that the HPA is told.

By pkg/scalers/kafka_scaler.go: what nobody has committed counts as 1 under offsetResetPolicy latest
and as the whole log under earliest; unless idle consumers are allowed the total is cut so that no
more pods are asked for than there are partitions (or partitions with lag).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalsim.domain.autoscaling import Autoscale


@dataclass(frozen=True, slots=True)
class Lag:
    """A group's lag as the scaler sees it."""

    total: float  # what the HPA is told
    seen: float  # what decides on activation: nothing is cut from it


def lag_of(ends: Mapping[object, int], committed: Mapping[object, int], deed: Autoscale) -> Lag:
    """Over the partitions of `ends`; `committed` holds those that somebody committed."""
    behind = []
    for partition, end in ends.items():
        if partition in committed:
            behind.append(max(0, end - committed[partition]))
        else:
            behind.append(end if deed.resets_to_earliest else 1)
    total = float(sum(behind))
    if deed.allows_idle and not deed.limits_to_lagging:
        return Lag(total, total)
    bound = sum(1 for lag in behind if lag > 0) if deed.limits_to_lagging else len(behind)
    if total // deed.lag_threshold > bound:
        return Lag(bound * deed.lag_threshold, total)
    return Lag(total, total)
