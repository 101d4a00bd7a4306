"""The passes of poll() calls of a client that has nothing to read: each wait lasts until the poll is
over, or retry.backoff.ms where nothing is under way, or until an answer or a commit comes up.
"""

from __future__ import annotations

from rebalsim.quiet.clocks import Tick
from rebalsim.quiet.timeline import Moment
from rebalsim.simulation.standing import ANSWERED, APP, Since, Standing


class Passes:
    """They are played from the last poll() before the last beat on."""

    __slots__ = ("_committed", "_since", "_standing")

    def __init__(self, standing: Standing, since: Since, committed: list[Tick]) -> None:
        self._standing = standing
        self._since = since
        self._committed = [tick[0] for tick in committed] if not standing.is_threaded else []

    def up_to(self, moment: Moment) -> None:
        """Where the poll() that runs began, its last pass, and until when it waits."""
        standing, since = self._standing, self._since
        timeout = standing.poll_timeout_us
        first = max(standing.now_us, moment[0] - 2 * timeout)  # each poll() begins anew
        began = standing.poll_began_us
        if first > began + timeout:
            began += (first - began) // timeout * timeout - timeout
        at = began if began > standing.now_us else standing.now_us
        while True:
            until, woken = self._wait(at, began + timeout, moment)
            if (until, woken) >= moment:
                break
            at = until
            if at >= began + timeout:
                began = at
        since.poll_began_us, since.polled_us, since.wakes_us = began, at, self._ends(at, began)

    def _ends(self, at_us: int, began_us: int) -> int:
        standing, since = self._standing, self._since
        ends = began_us + standing.poll_timeout_us
        if not any(sent.at_us < at_us < sent.lands_us for sent in since.sent):
            ends = min(ends, at_us + standing.backoff_us)
        if not standing.is_threaded:
            noticed = since.commit_due_us + standing.commit_late_us
            looks = (*self._committed, noticed, standing.looks_us)
            ends = min([ends, *[at for at in looks if at > at_us]])
        return ends

    def _wait(self, at_us: int, over_us: int, moment: Moment) -> Moment:
        """When the wait that begins now ends, and by what."""
        standing, since = self._standing, self._since
        rank = standing.first_rank
        ends = self._ends(at_us, over_us - standing.poll_timeout_us)
        answers = [sent.lands_us for sent in since.sent if at_us < sent.lands_us <= ends]
        return (min(answers), rank + ANSWERED) if answers else (ends, rank + APP)
