"""Records are handled twice because their offsets were not committed: more often, or when a
partition is given up.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.commit_style import CommitOnRevoke, CommitStyle
from rebalsim.domain.remedy import Patch


def propose(case: Case) -> Iterator[Patch | None]:
    who = next(iter(case.people.values()), None)
    if not case.metric.startswith("duplicates") or who is None:
        return
    if who.handler.commit is CommitStyle.AUTO:
        if who.config.auto_commit_interval_us > 1_000_000:
            yield case.setting(who, "auto.commit.interval.ms", "1s")
        yield case.group_key(who, "handler.commit", "auto", "sync-batch")
    if who.handler.commit_on_revoke is CommitOnRevoke.NONE:
        yield case.group_key(who, "handler.commit_on_revoke", "none", "once")
