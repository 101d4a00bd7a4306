"""What changed from one run to another: per partition and in total, what got better or worse,
and by which phase.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis.values import Lane
from rebalsim.domain.metrics import HEADLINES, METRICS
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.unit import Better
from rebalsim.reports.comparison import alike
from rebalsim.reports.report import VariantReport


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """Time spent in a phase, before and after; summed over what is compared."""

    phase: PhaseKind
    before_us: int
    after_us: int

    @property
    def by_us(self) -> int:
        return self.after_us - self.before_us


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """How long one partition stood still, before and after; `is_new` or `is_gone` where only one
    of the two has it.
    """

    partition: str
    group: str
    before_us: int
    after_us: int
    phases: tuple[PhaseChange, ...]
    is_new: bool = False
    is_gone: bool = False

    @property
    def by_us(self) -> int:
        return self.after_us - self.before_us

    @property
    def main(self) -> PhaseChange | None:
        """The phase that made most of the difference."""
        return max(self.phases, key=lambda c: abs(c.by_us), default=None)


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric before and after; `verdict` is better, worse, same, or empty where it cannot be
    said.
    """

    metric: str
    before: float | None
    after: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Difference:
    """All of it, for one pair."""

    before: VariantReport
    after: VariantReport
    metrics: tuple[MetricChange, ...]
    phases: tuple[PhaseChange, ...]
    partitions: tuple[PartitionChange, ...]  # those that changed, the largest change first
    unchanged: int


def difference(before: VariantReport, after: VariantReport) -> Difference:
    """From the one to the other. Partitions are matched by name; groups too, unless each has
    only one.
    """
    is_one_group = len(before.analysis.groups) == 1 and len(after.analysis.groups) == 1
    old, new = _by_name(before, is_one_group), _by_name(after, is_one_group)
    changes = [
        _partition(old.get(key), new.get(key))
        for key in sorted({**dict.fromkeys(old), **dict.fromkeys(new)})
    ]
    changed = [c for c in changes if not alike(c.before_us, c.after_us) or c.is_new or c.is_gone]
    changed.sort(key=lambda c: (-abs(c.by_us), c.partition))
    phases = _phases(list(old.values()), list(new.values()))
    metrics = tuple(_metric(name, before, after) for name in HEADLINES)
    return Difference(before, after, metrics, phases, tuple(changed), len(changes) - len(changed))


def _by_name(v: VariantReport, is_one_group: bool) -> dict[tuple[str, str, int], Lane]:
    return {
        ("" if is_one_group else lane.group, lane.partition.topic, lane.partition.number): lane
        for lane in v.analysis.lanes
    }


def _partition(old: Lane | None, new: Lane | None) -> PartitionChange:
    lane = new if new is not None else old
    assert lane is not None
    before, after = ([old] if old else []), ([new] if new else [])
    return PartitionChange(
        str(lane.partition),
        lane.group,
        _paused(old),
        _paused(new),
        _phases(before, after),
        is_new=old is None,
        is_gone=new is None,
    )


def _paused(lane: Lane | None) -> int:
    return sum(p.length_us for p in lane.pauses) if lane is not None else 0


def _phases(old: list[Lane], new: list[Lane]) -> tuple[PhaseChange, ...]:
    before, after = _spent(old), _spent(new)
    return tuple(
        PhaseChange(kind, before.get(kind, 0), after.get(kind, 0))
        for kind in PhaseKind
        if kind in before or kind in after
    )


def _spent(lanes: list[Lane]) -> dict[PhaseKind, int]:
    spent: dict[PhaseKind, int] = {}
    for lane in lanes:
        for pause in lane.pauses:
            for phase in pause.phases:
                spent[phase.kind] = spent.get(phase.kind, 0) + phase.length_us
    return spent


def _metric(name: str, before: VariantReport, after: VariantReport) -> MetricChange:
    old, new = before.measure(name), after.measure(name)
    return MetricChange(name, old, new, verdict_of(name, old, new))


def verdict_of(name: str, old: float | None, new: float | None) -> str:
    """better | worse | same; empty where either is unknown or neither way is better."""
    if old is None or new is None:
        return ""
    if alike(old, new):
        return "same"
    better = METRICS[name].better
    if better == Better.NEITHER:
        return ""
    return "better" if (new < old) == (better == Better.LESS) else "worse"
