"""What Kubernetes does with one pod's container: how it starts and stops, when it counts as started and
as ready, and how it is started again.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.instants import MINUTE, MS, SECOND

# A container that ends again and again is held back: at once, then 10 s, 20 s, 40 s … five minutes. Ten
# minutes without a restart, and it begins anew. (kubelet: doBackOff, MaxContainerBackOff)
BACK_OFF_US = 10 * SECOND
MOST_BACK_OFF_US = 5 * MINUTE
CALM_US = 10 * MINUTE
# A preStop hook that uses up the whole grace leaves the process two seconds.
# (kubelet: minimumGracePeriodInSeconds)
LEAST_GRACE_US = 2 * SECOND


@dataclass(frozen=True, slots=True)
class Looks:
    """When a probe of the kubelet's looks at a container: on a grid from its start."""

    initial_delay_us: int = 0
    period_us: int = 10 * SECOND
    failures: int = 3
    successes: int = 1
    is_of_assignment: bool = False  # content once it has its partitions, not once the process runs

    @property
    def gives_up_us(self) -> int:
        """From the start to the look that is one too many."""
        return self.initial_delay_us + self.period_us * (self.failures - 1)


@dataclass(frozen=True, slots=True)
class Life:
    """Process start and stop."""

    start: Draw = NOTHING  # from being started to the first poll()
    stop: Draw = NOTHING  # from being asked to stop to close()
    grace_us: int = 30_000 * MS  # killed when it has not exited by then
    pre_stop_us: int = 0  # the hook that runs before the process is asked; it uses up the grace
    restart_policy: str = "Never"  # Always: the kubelet starts it again when it has died
    startup: Looks | None = None  # killed when it does not run by then
    cpu_limit: float | None = None  # cores; below one, start and handling take that much longer

    @property
    def stretch(self) -> float:
        """By how much a thread that is always busy is slowed by the limit on its CPU."""
        return 1.0 if self.cpu_limit is None else max(1.0, 1.0 / self.cpu_limit)


def back_off_us(restarts: int) -> int:
    """How long the kubelet waits after that many restarts in a row: the first is at once."""
    return 0 if not restarts else int(min(BACK_OFF_US * 2 ** (restarts - 1), MOST_BACK_OFF_US))
