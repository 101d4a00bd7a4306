"""What Kubernetes does to pods beside rolling them: probes that kill, drained nodes, evictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.instants import MINUTE, SECOND

if TYPE_CHECKING:
    from rebalsim.domain.consumer import Consumer


@dataclass(frozen=True, slots=True)
class Probe(Deed):
    """From now on the kubelet looks at each pod, and restarts a container that fails; the restarts of
    one that fails again and again are held back (CrashLoopBackOff).
    """

    consumers: tuple[str, ...]
    looks_at: str = "process"  # process | poll_loop | heartbeat
    stale_us: int = 30 * SECOND  # how long ago the last poll, or beat, may be
    initial_delay_us: int = 0
    period_us: int = 10 * SECOND
    failures: int = 3


@dataclass(frozen=True, slots=True)
class DrainNode(Deed):
    """The pods of a node are evicted, as many at once as the disruption budget lets: at least
    `keep` of the group stay available. Who is turned away is asked again every `retry_us`.
    """

    group: str
    consumers: tuple[str, ...]
    stand_ins: tuple[Consumer, ...] = ()  # of a Deployment: they start as soon as one is evicted
    keep: int = 0
    pull: Draw = NOTHING
    retry_us: int = 5 * SECOND


@dataclass(frozen=True, slots=True)
class Evict(Deed):
    """The machine is taken away: its pods are asked to stop, and it is gone after the notice,
    budget or none.
    """

    consumers: tuple[str, ...]
    stand_ins: tuple[Consumer, ...] = ()
    notice_us: int = 2 * MINUTE
    pull: Draw = NOTHING


@dataclass(frozen=True, slots=True)
class Recreate(Deed):
    """All pods stop; when the last one is gone, all start."""

    consumers: tuple[str, ...]
    settings: tuple[Consumer, ...] = ()
    pull: Draw = NOTHING
