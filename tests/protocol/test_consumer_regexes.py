"""Subscriptions by regular expression: resolved by the broker, a little later, at most every
10 s.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_talk import MS, Error, Talk, written

from rebalsim.protocol.consumer.refusal import Refusal
from rebalsim.protocol.consumer.regexes import pattern


def test_a_joiner_with_an_unresolved_regex_gets_an_empty_list_first_and_its_partitions_at_a_later_heartbeat() -> (
    None
):
    talk = Talk("a2 b1 c1")
    talk.want(m1="a0 a1 b0")
    answer = talk.join("m1", topics=None, regex="[ab]")
    assert (written(answer.assignment), answer.epoch, talk.epochs) == ("", 1, (1, 1))
    talk.at(1)
    assert talk.epochs == (2, 1) and talk.told("EpochBumped")[-1]["trigger"] == "regex-resolved"
    assert written(talk.beat("m1").assignment) == "a0 a1 b0"
    assert talk.asked[-1][2] is True


def test_a_regex_matches_whole_names_only() -> None:
    talk = Talk("a1")
    talk.join("m1", topics=None, regex="")
    talk.beat("m1", regex="x?a")
    talk.at(1)
    assert talk.group.regexes["x?a"].topics == ("a",)
    talk = Talk("a1")
    talk.join("m1", topics=None, regex="")
    talk.beat("m1", regex="aa?b")
    talk.at(1)
    assert talk.group.regexes["aa?b"].topics == ()


def test_a_regex_that_is_resolved_already_bumps_the_epoch_at_once() -> None:
    talk = Talk("a2")
    talk.want(m1="a0 a1")
    talk.join("m1", topics=None, regex="a")
    talk.at(1)
    talk.beat("m1")
    talk.want(m1="a0", m2="a1")
    answer = talk.join("m2", topics=None, regex="a")
    assert (answer.epoch, talk.epochs) == (3, (3, 3)) and talk.told("EpochBumped")[-1][
        "trigger"
    ] == "joined"


def test_a_regex_taken_back_bumps_the_epoch_and_its_topics_go() -> None:
    talk = Talk("a2")
    talk.want(m1="a0 a1")
    talk.join("m1", topics=None, regex="a")
    talk.at(1)
    talk.beat("m1")
    talk.want()
    talk.beat("m1", regex="")
    assert talk.epochs == (3, 3) and talk.where("m1") == "UNREVOKED_PARTITIONS 2:  -a0 -a1"
    assert not talk.group.regexes


def test_new_topics_are_looked_at_with_the_next_heartbeat_but_not_within_10_s_of_the_last_look() -> (
    None
):
    talk = Talk("a1")
    talk.want(m1="a0")
    talk.join("m1", topics=None, regex="[ab]")
    talk.at(1)
    talk.beat("m1")
    talk.topics("a1 b1")
    talk.at(10_000)
    talk.beat("m1")
    talk.at(10_001)
    assert talk.epochs == (2, 2)
    talk.want(m1="a0 b0")
    talk.at(10_002)
    talk.beat("m1")
    talk.at(10_003)
    assert talk.epochs == (3, 2) and written(talk.beat("m1").assignment) == "a0 b0"


def test_a_resolution_that_changes_nothing_bumps_nothing() -> None:
    talk = Talk("a1", session_timeout_us=10**12)
    talk.want(m1="a0")
    talk.join("m1", topics=None, regex="a")
    talk.at(1)
    talk.beat("m1")
    talk.at(700_000)
    talk.beat("m1")
    assert "regexes" in talk.timers
    talk.at(700_001)
    assert talk.epochs == (2, 2)


def test_names_and_a_regex_add_up() -> None:
    talk = Talk("a1 b1 c1")
    talk.want(m1="a0 c0")
    talk.join("m1", topics="c", regex="a")
    talk.at(1)
    assert written(talk.beat("m1").assignment) == "a0 c0"
    assert talk.asked[-1][2] is False and {t[0] for t in talk.asked[-1][1][0].topics} == {"a", "c"}


def test_members_with_different_regexes_are_heterogeneous() -> None:
    talk = Talk("a1 b1")
    talk.join("m1", topics=None, regex="a")
    talk.join("m2", topics=None, regex="b")
    talk.at(1)
    talk.beat("m1")
    assert talk.asked[-1][2] is False


def test_the_regex_of_the_last_member_that_had_it_is_forgotten_when_it_goes() -> None:
    talk = Talk("a1")
    talk.join("m1", topics=None, regex="a")
    talk.at(1)
    talk.leave("m1")
    assert not talk.group.regexes and not talk.group.regex_counts


@pytest.mark.parametrize("regex", ["a(", "a(?=b)", "(?<!x)a", r"(a)\1", "*"])
def test_what_RE2_does_not_take_is_refused(regex: str) -> None:
    talk = Talk("a1")
    assert talk.join("m1", topics=None, regex=regex).error is Error.INVALID_REGULAR_EXPRESSION
    assert not talk.group.members
    with pytest.raises(Refusal):
        pattern(regex)


def test_a_backslash_before_a_backslash_is_no_back_reference() -> None:
    assert pattern(r"a\\1") and MS


def test_one_that_takes_a_static_members_place_with_another_regex_makes_the_old_one_forgotten() -> (
    None
):
    talk = Talk("a1 b1")
    talk.want(m1="a0")
    talk.join("m1", topics="a", instance="i1", regex="a")
    talk.at(1)
    talk.leave("m1", "i1", -2)
    talk.join("m2", topics="a", instance="i1", regex="b")
    assert not talk.group.regexes and talk.group.regex_counts == {"b": 1}
    talk.beat("m2", instance="i1")  # not held back by the 10 s: nothing is resolved any more
    talk.at(2)
    assert talk.group.regexes["b"].topics == ("b",)


def test_the_group_remembers_what_kind_it_was_when_a_member_last_changed_not_when_a_regex_was_forgotten() -> (
    None
):
    talk = Talk("a1 b1", session_timeout_us=10**12)
    talk.join("m1", topics=None, regex="[ab]")
    talk.join("m2", topics=None, regex="a")
    talk.at(1)
    talk.at(10_002)
    talk.beat("m1")
    talk.at(10_003)
    talk.beat("m1")
    talk.leave("m1")
    talk.join("m3", topics="")
    assert talk.asked[-1][2] is False, "a was matched by both expressions when m1 went"


def test_all_that_hold_one_regex_are_homogeneous() -> None:
    talk = Talk("a1 b1")
    talk.join("m1", topics=None, regex="[ab]")
    talk.at(1)
    talk.beat("m1")
    talk.join("m2", topics=None, regex="[ab]")
    assert talk.asked[-1][2] is True
    talk.join("m3", topics="a")
    assert talk.asked[-1][2] is False


def test_a_resolution_goes_on_although_the_heartbeat_that_asked_for_it_was_refused() -> None:
    def broken(*_: object) -> object:
        raise ValueError("no")

    talk = Talk("a1", assignors={"uniform": broken})
    assert talk.join("m1", topics="a", regex="a").error is Error.UNKNOWN_SERVER_ERROR
    assert "regexes" in talk.timers
    talk.at(1)
    assert not talk.group.regexes_are_due and talk.epochs == (1, 1)


def test_what_a_forgotten_regex_left_behind_goes_with_the_next_change_of_any_member() -> None:
    talk = Talk("a1 b1", session_timeout_us=10**12)
    talk.want(m2="a0")
    talk.join("m2", topics="a")
    talk.join("m1", topics=None, regex="[ab]")
    talk.at(1)
    talk.beat("m2")
    talk.leave("m1")
    assert not talk.group.is_homogeneous, (
        "b was matched by an expression that was still known when m1 went"
    )
    talk.beat("m2", assignor="range")
    assert talk.group.is_homogeneous


NAMES = ["t0", "t1", "T1", "topic-1", "a_b", "audit.log", "orders", "ordersX", "aa", "t"]


def test_expressions_match_and_are_refused_as_the_brokers_library_does() -> None:
    """What RE2/J 1.8 answered: 80 expressions written for their dialect, and 220 put together at
    random.
    """
    rows = [
        line.rsplit("\t", 1)
        for line in (Path(__file__).parent / "re2j.tsv").read_text("utf-8").splitlines()
    ]
    assert len(rows) == 300
    for regex, answer in rows:
        try:
            found = [name for name in NAMES if pattern(regex).matches(name)]
        except Refusal:
            assert answer == "INVALID", regex
        else:
            assert answer == f"[{', '.join(found)}]", regex
