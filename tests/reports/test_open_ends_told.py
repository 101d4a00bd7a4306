"""What was still open has words, whatever it is."""

from __future__ import annotations

import pytest

from rebalsim.domain.doing import Doing
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.reports.open_ends_told import tell_open_end


@pytest.mark.parametrize("kind", OpenEndKind)
def test_every_open_end_has_words(kind: OpenEndKind) -> None:
    told = tell_open_end(OpenEnd(kind, "c1", Doing.AWAY, 2, 5_000_000))
    assert len(told.split()) >= 3 and "{" not in told and kind.value not in told


def test_what_a_member_was_at_is_said_in_words() -> None:
    stuck = OpenEnd(OpenEndKind.BUSY_WITH_ITSELF, "c1", Doing.STUCK)
    assert tell_open_end(stuck) == "c1 was still busy with one batch"
    gone = OpenEnd(OpenEndKind.GONE_AND_A_MEMBER, "c1", Doing.AWAY)
    assert tell_open_end(gone) == "c1 was gone and still a member, its session running"


def test_what_nobody_owned_is_counted() -> None:
    end = OpenEnd(OpenEndKind.NEVER_OWNED, what="t-0, t-1", count=1, length_us=1_000_000)
    assert tell_open_end(end) == "nobody ever owned t-0, t-1 and 1 more before 1.00 s"
