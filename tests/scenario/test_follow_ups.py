"""One mistake is one message: what follows from it is left out."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import ProblemsError
from rebalsim.scenario.load import story_of

TOPICS = "topics: {orders: {partitions: 12, rate: 100/s}}\n"
SCRIPT = "script:\n- {at: 1m, crash: {member: c-0}}\n- {at: 2m, hang: {member: c-1, for: 1m}}\n"


def told(text: str) -> list[str]:
    with pytest.raises(ProblemsError) as caught:
        story_of(text.encode(), "story").check()
    return [p.message for p in caught.value.problems]


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ("gruop: {members: 4}\n", "did you mean 'group'?"),
        ('group: {members: {"c-{n}": {count: four}}}\n', "'four' does not fit here"),
        ("group: {members: many}\n", "'many'"),
    ],
)
def test_a_group_that_cannot_be_read_makes_no_members_missing(group: str, said: str) -> None:
    (message,) = told(TOPICS + group + SCRIPT)
    assert said in message


def test_a_member_that_is_missing_from_a_good_group_is_told() -> None:
    first, second = told(TOPICS + "group: {members: 4}\n" + SCRIPT)
    assert "There is no member 'c-0'" in first and "There is no member 'c-1'" in second


def test_a_group_that_is_not_there_at_all_is_told() -> None:
    (message,) = told(TOPICS + SCRIPT)
    assert message.startswith("There is no group")
