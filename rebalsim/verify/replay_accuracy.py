"""How much of what really happened an analysis finds: the pauses of a real run against those of its replay,
phase by phase.

A real pause is found if the replay has one of the same partition that overlaps it; it is right
within max(100 ms, 5 %). The same holds for each phase of a found pause. Pauses shorter than
NOTICEABLE on both sides are the ordinary spacing of batches and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.values import Pause
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.ids import Partition
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.phase import PhaseKind

NOTICEABLE_US = 50_000
TOLERANCE_US = 100_000
TOLERANCE = 0.05


@dataclass(slots=True)
class PhaseTruth:
    """One kind of phase over all matched pauses."""

    kind: PhaseKind
    real: int = 0  # pauses in which it really occurred
    both: int = 0  # … and in the replay too
    right: int = 0  # lengths alike, absent on both sides left out
    told: int = 0  # pauses in which it occurred on either side
    errors_us: list[int] = field(default_factory=list)
    real_us: int = 0
    replayed_us: int = 0


@dataclass(slots=True)
class Accuracy:
    """One or many recordings against their replays."""

    recordings: int = 0
    real: int = 0  # pauses that really were
    found: int = 0  # … and that the replay has
    right: int = 0  # … of the right length
    invented: int = 0  # pauses that only the replay has
    errors_us: list[int] = field(default_factory=list)
    same_cause: int = 0
    phases: dict[PhaseKind, PhaseTruth] = field(
        default_factory=lambda: {kind: PhaseTruth(kind) for kind in PhaseKind}
    )


def is_right(one_us: int, other_us: int) -> bool:
    """Alike for all that a recording can tell."""
    return abs(one_us - other_us) <= max(TOLERANCE_US, TOLERANCE * max(one_us, other_us))


def compare(real: Analysis, replayed: Analysis) -> Accuracy:
    """A recording's pauses, computed from real callbacks and records, against those of its
    replay.
    """
    accuracy = Accuracy(recordings=1)
    theirs: dict[Partition, list[Pause]] = {}
    for p in replayed.pauses:
        theirs.setdefault(p.partition, []).append(p)
    used: dict[int, int] = {}
    for pause in real.pauses:
        twin = _twin(pause, theirs.get(pause.partition, ()))
        if max(pause.length_us, twin.length_us if twin is not None else 0) < NOTICEABLE_US:
            if twin is not None:
                used[id(twin)] = 1
            continue
        accuracy.real += 1
        if twin is not None:
            used[id(twin)] = 1
            _hold(accuracy, pause, twin)
    accuracy.invented = sum(
        1 for p in replayed.pauses if used.get(id(p), 0) == 0 and p.length_us > TOLERANCE_US
    )
    return accuracy


def _twin(pause: Pause, candidates: Sequence[Pause]) -> Pause | None:
    best, overlap = None, 0
    for p in candidates:
        shared = min(pause.ended_us, p.ended_us) - max(pause.started_us, p.started_us)
        if shared > overlap:
            best, overlap = p, shared
    return best


def _hold(accuracy: Accuracy, pause: Pause, twin: Pause) -> None:
    accuracy.found += 1
    accuracy.right += is_right(pause.length_us, twin.length_us)
    accuracy.same_cause += _cause(pause) == _cause(twin)
    accuracy.errors_us.append(abs(pause.length_us - twin.length_us))
    for kind, phase in accuracy.phases.items():
        ours, other = _spent(pause, kind), _spent(twin, kind)
        phase.real += ours > 0
        phase.both += ours > 0 and other > 0
        phase.real_us += ours
        phase.replayed_us += other
        if ours or other:
            phase.told += 1
            phase.right += is_right(ours, other)
            phase.errors_us.append(abs(ours - other))


def _cause(pause: Pause) -> str:
    """A recording does not tell whether a group had settled for a moment between its first
    members' joins.
    """
    kind = pause.cause.kind
    return CauseKind.SCALE_OUT if kind is CauseKind.START else kind


def _spent(pause: Pause, kind: PhaseKind) -> int:
    return sum(phase.length_us for phase in pause.phases if phase.kind is kind)


def total(accuracies: Iterable[Accuracy]) -> Accuracy:
    """All together."""
    whole = Accuracy()
    for accuracy in accuracies:
        for name in ("recordings", "real", "found", "right", "invented", "same_cause"):
            setattr(whole, name, getattr(whole, name) + getattr(accuracy, name))
        whole.errors_us += accuracy.errors_us
        for kind, phase in accuracy.phases.items():
            sum_ = whole.phases[kind]
            for name in ("real", "both", "right", "told", "real_us", "replayed_us"):
                setattr(sum_, name, getattr(sum_, name) + getattr(phase, name))
            sum_.errors_us += phase.errors_us
    return whole


def told(accuracy: Accuracy) -> list[str]:
    """A table in words: one line over all pauses, one a phase that occurred."""
    lines = [
        f"{accuracy.recordings} recording{'' if accuracy.recordings == 1 else 's'}: {accuracy.real} "
        f"pauses, {accuracy.found} found, "
        f"{accuracy.right} of the right length ({_share(accuracy.right, accuracy.real)}), "
        f"{accuracy.same_cause} with the same cause, {accuracy.invented} that were not there; "
        f"off by {_ms(accuracy.errors_us, 50)} in the middle, {_ms(accuracy.errors_us, 95)} at the "
        "95th percentile",
        f"{'phase':<12}{'in either':>10}{'in both':>9}{'right':>8}{'off, middle':>13}{'off, p95':>10}{'real':>10}{'replayed':>10}",
    ]
    for phase in accuracy.phases.values():
        if phase.told:
            lines.append(
                f"{phase.kind:<12}{phase.told:>10}{phase.both:>9}{_share(phase.right, phase.told):>8}{_ms(phase.errors_us, 50):>13}"
                f"{_ms(phase.errors_us, 95):>10}{phase.real_us / 1e6:>9.1f}s{phase.replayed_us / 1e6:>9.1f}s"
            )
    return lines


def document(accuracy: Accuracy) -> dict[str, object]:
    """An accuracy as plain values for tools; times in µs."""
    return {
        "recordings": accuracy.recordings,
        "pauses": accuracy.real,
        "found": accuracy.found,
        "right": accuracy.right,
        "invented": accuracy.invented,
        "same_cause": accuracy.same_cause,
        **_errors(accuracy.errors_us),
        "phases": {str(p.kind): _phase(p) for p in accuracy.phases.values() if p.told},
    }


def _phase(p: PhaseTruth) -> dict[str, object]:
    return {
        "told": p.told,
        "real": p.real,
        "both": p.both,
        "right": p.right,
        **_errors(p.errors_us),
        "real_us": p.real_us,
        "replayed_us": p.replayed_us,
    }


def _errors(errors_us: Iterable[float]) -> dict[str, object]:
    ordered = sorted(errors_us)
    return {"error_p50_us": percentile(ordered, 50), "error_p95_us": percentile(ordered, 95)}


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _ms(errors: list[int], percent: float) -> str:
    value = percentile(sorted(errors), percent)
    return f"{value / 1000:.0f} ms" if value is not None else "–"
