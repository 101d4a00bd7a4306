"""CrashLoopBackOff: a pod that dies again and again is started again later and later. Consumers' pods
and those of a Streams application go by the same rule.
"""

from __future__ import annotations

from rebalsim.domain.pods import CALM_US, back_off_us


class BackOff:
    """How often each pod was started again in a row."""

    __slots__ = ("_restarts",)

    def __init__(self) -> None:
        self._restarts: dict[str, tuple[int, int]] = {}  # pod → how many in a row, when the last

    def next_wait(self, pod: str, now: int) -> int:
        """How long the next restart of this pod is held back; it counts as made."""
        count, last_us = self._restarts.get(pod, (0, -CALM_US))
        if now - last_us >= CALM_US:
            count = 0
        wait = back_off_us(count)
        self._restarts[pod] = (count + 1, now + wait)
        return wait


def told(name: str, wait_us: int) -> str:
    """What the kubelet is about to do with what has died."""
    again = f"again after {wait_us // 1_000_000} s of back-off" if wait_us else "again at once"
    return f"{name} died, is started {again}"
