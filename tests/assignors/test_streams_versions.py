"""Version probing: a leader that cannot read a newcomer tells it which version to use, and once all
are upgraded the newer leader tells the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalsim.assignors.streams.leader import LeaderAnswer, ThreadShare, assign_across_versions
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.tasks import (
    LATEST_OFFSET,
    UNKNOWN_OFFSET,
    Subtopology,
    TaskId,
    topology_of,
)
from rebalsim.assignors.streams.versions import LATEST, Spoken, next_version, version_of

OLD, NEW, NEW_WRITING_OLD = Spoken(4, 4), Spoken(LATEST, LATEST), Spoken(4, LATEST)
TOPOLOGY = topology_of([Subtopology(("t",), ("s-changelog",))], {"t": 2})
FIRST, SECOND = TaskId(0, 0), TaskId(0, 1)


def claims() -> list[ThreadClaim]:
    return [
        ThreadClaim("a", "process-a", offset_sums={FIRST: LATEST_OFFSET, SECOND: 70}),
        ThreadClaim("b", "process-b", offset_sums={SECOND: LATEST_OFFSET}),
    ]


def answered(spoken: dict[str, Spoken], leader: str) -> tuple[LeaderAnswer, list[ThreadClaim]]:
    read: list[ThreadClaim] = []

    def assigned(told: Sequence[ThreadClaim]) -> LeaderAnswer:
        read.extend(told)
        shares = {claim.member_id: ThreadShare((), (), (), None) for claim in told}
        return LeaderAnswer({}, False, False, shares)

    return assign_across_versions(assigned, TOPOLOGY, claims(), spoken, leader), read


def test_an_old_leader_gives_a_newcomer_nothing_and_lets_all_others_keep_what_they_have() -> None:
    answer, read = answered({"a": OLD, "b": NEW}, "a")
    assert read == []  # its assignor was not asked
    assert answer.shares["a"].active == [FIRST] and answer.shares["a"].standby == (SECOND,)
    assert answer.shares["b"].active == []
    assert next_version(NEW.version, answer.shares["b"].spoken) == 4
    assert next_version(OLD.version, answer.shares["a"].spoken) is None


def test_a_new_leader_writes_so_that_the_oldest_can_read() -> None:
    answer, read = answered({"a": OLD, "b": NEW}, "b")
    assert answer.shares["a"].spoken == answer.shares["b"].spoken == OLD
    assert next_version(NEW.version, answer.shares["b"].spoken) == 4
    assert read[0].offset_sums == {FIRST: LATEST_OFFSET, SECOND: UNKNOWN_OFFSET}


def test_when_the_last_old_one_is_gone_everybody_is_told_to_use_the_latest() -> None:
    answer, _ = answered({"a": NEW_WRITING_OLD, "b": NEW}, "b")
    assert next_version(4, answer.shares["a"].spoken) == LATEST
    assert next_version(LATEST, answer.shares["b"].spoken) == LATEST  # it rejoins once more as well


def test_among_equals_nothing_is_asked_for() -> None:
    answer, read = answered({"a": NEW, "b": NEW}, "a")
    assert all(next_version(LATEST, share.spoken) is None for share in answer.shares.values())
    assert read == claims()


@pytest.mark.parametrize(
    ("kafka", "version"),
    [((2, 0), 3), ((2, 3), 4), ((2, 4), 5), ((2, 7), 8), ((3, 1), 10), ((3, 9), 11), ((4, 3), 11)],
)
def test_the_versions_of_clients(kafka: tuple[int, int], version: int) -> None:
    assert version_of(kafka) == version
