"""How much memory a process may still take: of the machine, or of the container that it is in."""

from __future__ import annotations

import os
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/memory.max")
_USED = Path("/sys/fs/cgroup/memory.current")
_MACHINE = Path("/proc/meminfo")
UNKNOWN = 1 << 62


def free_memory() -> int:
    """In bytes; more than anything where nobody can tell."""
    return min(_of_machine(), _of_container(), _of_process())


def _of_machine() -> int:
    try:
        for line in _MACHINE.read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN


def _of_container() -> int:
    try:
        return max(0, int(_LIMIT.read_text("utf-8")) - int(_USED.read_text("utf-8")))
    except (OSError, ValueError):  # none, or "max"
        return UNKNOWN


def _of_process() -> int:
    """What `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return UNKNOWN if limit == resource.RLIM_INFINITY else limit
    except (ImportError, OSError, ValueError):
        return UNKNOWN
