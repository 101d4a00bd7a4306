"""Exit codes: one meaning each, and the only place that says so."""

from __future__ import annotations

from collections.abc import Sized

WITHIN = 0  # all is well, every budget is kept
BROKEN = 1  # a budget is broken, or what was verified differs
INVALID = 2  # bad usage, an invalid file, something missing
INCONCLUSIVE = 3  # nothing broken, but what was under way at the horizon could still break a budget
BUG = 70  # rebalsim contradicts itself
INTERRUPTED = 130  # Ctrl-C

# for people: `rebalsim explain exit` and the README's table say the same
MEANINGS: dict[int, str] = {
    WITHIN: "all is well: every budget is kept, or there is nothing to judge",
    BROKEN: "a budget is broken, or what was verified differs",
    INVALID: "bad usage, an invalid scenario, or something missing that must be installed",
    INCONCLUSIVE: "no budget is broken, but something was still under way when observation ended (a "
    "pause, a group that had not settled or never formed, a lag that grew) and could break one",
    BUG: "a bug in rebalsim: the message has seed and version, and says how to report it",
    INTERRUPTED: "interrupted, or its reader went away before all was written",
}

# how a check ends → its code
OF_CHECKS: dict[str, int] = {
    "pass": WITHIN,
    "inconclusive": INCONCLUSIVE,
    "fail": BROKEN,
    "invalid": INVALID,
    "bug": BUG,
}

GRAVITY = (BUG, INVALID, BROKEN, INCONCLUSIVE, WITHIN)


def of_logs(groups: Sized) -> int:
    """What logs told of these groups. Where no line is of any, that is no quiet night."""
    return WITHIN if groups else INVALID


def gravest(codes: list[int]) -> int:
    """The exit code of a command with several verdicts: that of the gravest."""
    return min(codes, key=GRAVITY.index, default=WITHIN)
