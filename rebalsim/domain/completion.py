"""What ended a round: the barrier of a classic group, or the target of a group that has epochs."""

from __future__ import annotations

from rebalsim.domain.open_codes import OpenCode


class Completion(OpenCode):
    """The codes of traces and results; their words stand in `rebalsim/reports/completions_told.py`."""

    UNTOLD = ""
    ALL_JOINED = "all-joined"
    TIMER = "timer"  # the rebalance timeout ran out
    REMOVAL = "removal"  # of somebody that the barrier still waited for
    INITIAL_DELAY = "initial-delay"  # group.initial.rebalance.delay.ms was over
    EMPTY = "empty"  # nobody was left to wait for
    COMPUTED = "computed"  # there is no barrier: the coordinator computed a new target
