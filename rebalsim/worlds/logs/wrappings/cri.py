"""Containerd's and CRI-O's files under /var/log/pods: `TIME stdout|stderr P|F TEXT`, `P` for a part."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping

_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\S{8,30}) (?:stdout|stderr) ([PF])(?::\S{0,40})? ?", re.ASCII)


def take(line: str) -> Unwrapped | None:
    """The line without CRI's prefix."""
    found = _LINE.match(line)
    if found is None:
        return None
    return Unwrapped(line[found.end() :], stamp_of(found[1]), goes_on=found[2] == "P")


WRAPPING = Wrapping("CRI", take, order=10, may_go_on=lambda line: " P " in line[:60])
