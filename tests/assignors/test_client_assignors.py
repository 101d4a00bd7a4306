"""Small groups with the answers that Kafka's own classes gave, one table per assignor."""

from __future__ import annotations

import pytest
from small_groups import members, racks, told

from rebalsim.assignors import cooperative_sticky, range_assignor, round_robin, sticky
from rebalsim.assignors.claim import AssignmentFailed, Claim
from rebalsim.domain.ids import Partition


def test_range_gives_consecutive_runs_and_the_extras_to_the_first() -> None:
    assert told(range_assignor.assign({"t0": 3, "t1": 3}, members("C0", "C1", topics="t0 t1"))) == {
        "C0": "t0-0 t0-1 t1-0 t1-1",
        "C1": "t0-2 t1-2",
    }


def test_range_puts_static_members_first_by_instance_id() -> None:
    assert told(
        range_assignor.assign({"t": 5}, members("aaa", "zzz [i1]", "yyy [i2]", topics="t"))
    ) == {"aaa": "t-4", "zzz": "t-0 t-1", "yyy": "t-2 t-3"}


def test_range_counts_only_subscribers() -> None:
    assert told(
        range_assignor.assign({"a": 7, "b": 2}, members("m1 {a}", "m2", "m3", topics="a b"))
    ) == {"m1": "a-0 a-1 a-2", "m2": "a-3 a-4 b-0", "m3": "a-5 a-6 b-1"}


def test_range_prefers_the_rack_of_a_replica_within_the_quotas() -> None:
    given = range_assignor.assign(
        {"t": 6}, members("m1 @c", "m2 @a", "m3 @b", topics="t"), {"t": racks("ab bc ca ab bc ca")}
    )
    assert told(given) == {"m1": "t-1 t-2", "m2": "t-0 t-3", "m3": "t-4 t-5"}


def test_range_keeps_copartitioned_topics_together_in_their_rack() -> None:
    given = range_assignor.assign(
        {"t": 3, "u": 3},
        members("m1 @c", "m2 @a", "m3 @b", topics="t u"),
        {"t": racks("a b c"), "u": racks("a b c")},
    )
    assert told(given) == {"m1": "t-2 u-2", "m2": "t-0 u-0", "m3": "t-1 u-1"}


def test_range_ignores_racks_where_every_partition_is_everywhere() -> None:
    given = range_assignor.assign(
        {"t": 4}, members("m1 @b", "m2 @a", topics="t"), {"t": racks("ab ba ab ba")}
    )
    assert told(given) == {"m1": "t-0 t-1", "m2": "t-2 t-3"}


def test_round_robin_passes_over_members_that_do_not_subscribe() -> None:
    given = round_robin.assign(
        {"t0": 1, "t1": 2, "t2": 3}, members("C0 {t0}", "C1 {t0 t1}", "C2", topics="t0 t1 t2")
    )
    assert told(given) == {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}


def test_round_robin_goes_on_from_topic_to_topic() -> None:
    assert told(round_robin.assign({"t0": 3, "t1": 3}, members("C0", "C1", topics="t0 t1"))) == {
        "C0": "t0-0 t0-2 t1-1",
        "C1": "t0-1 t1-0 t1-2",
    }


def test_round_robin_seats_static_members_first() -> None:
    assert told(round_robin.assign({"t": 3}, members("a", "b [i]", topics="t"))) == {
        "a": "t-1",
        "b": "t-0 t-2",
    }


COOPERATIVE = {
    "a fresh group is dealt round": (
        {f"t{i}": 2 for i in range(4)},
        ["C0", "C1", "C2"],
        None,
        {"C0": "t0-0 t1-1 t3-0", "C1": "t0-1 t2-0 t3-1", "C2": "t1-0 t2-1"},
    ),
    "what a newcomer shall get is withheld": (
        {"t0": 6},
        ["C0 owns t0-0 t0-1 t0-2 t0-3 t0-4 t0-5 gen 5", "C1"],
        None,
        {"C0": "t0-0 t0-1 t0-2", "C1": ""},
    ),
    "and given in the next round": (
        {"t0": 6},
        ["C0 owns t0-0 t0-1 t0-2 gen 6", "C1"],
        None,
        {"C0": "t0-0 t0-1 t0-2", "C1": "t0-3 t0-4 t0-5"},
    ),
    "the lowest numbers are kept, over all topics": (
        {"a": 3, "b": 3},
        ["C0 owns a-0 a-1 a-2 b-0 b-1 b-2 gen 5", "C1"],
        None,
        {"C0": "a-0 a-1 b-0", "C1": ""},
    ),
    "who keeps the extra partition is decided by hash order": (
        {"t": 4},
        ["consumer-10 owns t-0 t-1 gen 2", "consumer-11 owns t-2 t-3 gen 2", "consumer-12"],
        None,
        {"consumer-10": "t-0", "consumer-11": "t-2 t-3", "consumer-12": ""},
    ),
    "m-a comes first in hash order too": (
        {"t": 4},
        ["m-a owns t-0 t-1 gen 2", "m-b owns t-2 t-3 gen 2", "m-c"],
        None,
        {"m-a": "t-0 t-1", "m-b": "t-2", "m-c": ""},
    ),
    "two give up one each": (
        {"t": 6},
        ["A owns t-0 t-1 t-2 gen 4", "B owns t-3 t-4 t-5 gen 4", "C"],
        None,
        {"A": "t-0 t-1", "B": "t-3 t-4", "C": ""},
    ),
    "and the third collects": (
        {"t": 6},
        ["A owns t-0 t-1 gen 5", "B owns t-3 t-4 gen 5", "C"],
        None,
        {"A": "t-0 t-1", "B": "t-3 t-4", "C": "t-2 t-5"},
    ),
    "claimed twice in one generation: nobody's for a round": (
        {"t": 4},
        ["A owns t-0 t-1 gen 3", "B owns t-1 t-2 gen 3"],
        None,
        {"A": "t-0", "B": "t-2 t-3"},
    ),
    "claimed twice: the younger generation wins": (
        {"t": 4},
        ["A owns t-0 t-1 gen 2", "B owns t-1 t-2 gen 3"],
        None,
        {"A": "t-0 t-3", "B": "t-1 t-2"},
    ),
    "racks: near partitions first": (
        {"t": 6},
        ["m1 @c", "m2 @a", "m3 @b"],
        "a b c a b c",
        {"m1": "t-2 t-5", "m2": "t-0 t-3", "m3": "t-1 t-4"},
    ),
    "racks: what is remote is given up": (
        {"t": 4},
        ["m1 @a owns t-1 t-3 gen 3", "m2 @b owns t-0 t-2 gen 3"],
        "a b a b",
        {"m1": "", "m2": ""},
    ),
    "different topics: the scarce ones first": (
        {"t0": 1, "t1": 2, "t2": 3},
        ["C0 {t0}", "C1 {t0 t1}", "C2 {t0 t1 t2}"],
        None,
        {"C0": "t0-0", "C1": "t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"},
    ),
    "different topics: a leaver's partitions go out at once": (
        {"t0": 1, "t1": 2, "t2": 3},
        ["C1 {t0 t1} owns t1-0 t1-1 gen 4", "C2 {t0 t1 t2} owns t2-0 t2-1 t2-2 gen 4"],
        None,
        {"C1": "t0-0 t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"},
    ),
    "different topics: what moves is withheld": (
        {"t0": 6, "t1": 2},
        ["C0 {t0} owns t0-0 t0-1 t0-2 t0-3 t0-4 t0-5 gen 4", "C1 {t0 t1}"],
        None,
        {"C0": "t0-2 t0-3 t0-4 t0-5", "C1": "t1-0 t1-1"},
    ),
}


@pytest.mark.parametrize("case", COOPERATIVE)
def test_cooperative_sticky_answers_as_kafka_does(case: str) -> None:
    topics, texts, near, expected = COOPERATIVE[case]
    given = cooperative_sticky.assign(
        topics, members(*texts, topics=" ".join(topics)), {"t": racks(near)} if near else None
    )
    assert told(given) == expected


def test_sticky_reads_what_was_owned_from_the_user_data() -> None:
    held = tuple(Partition("t", n) for n in range(5))
    a, b = Claim("A", ("t",), user_owned=held, user_generation=4), Claim("B", ("t",))
    assert told(sticky.assign({"t": 5}, [a, b])) == {"A": "t-0 t-1 t-2", "B": "t-3 t-4"}
    owned_only = Claim("A", ("t",), owned=held, owned_generation=4)
    assert told(sticky.assign({"t": 5}, [owned_only, b])) == {"A": "t-0 t-2 t-4", "B": "t-1 t-3"}


def test_sticky_holds_a_claim_against_the_other_members_subscription() -> None:
    """Its user data is of generation 3, its subscription of 5: the claim of 4 is older than
    that.
    """
    p = (Partition("t", 0),)
    first = Claim("A", ("t",), owned_generation=5, user_owned=p, user_generation=3)
    second = Claim("B", ("t",), owned_generation=4, user_owned=p, user_generation=4)
    assert told(sticky.assign({"t": 2}, [first, second])) == {"A": "t-0", "B": "t-1"}


def test_cooperative_sticky_takes_the_generation_of_the_user_data_if_the_subscription_has_none() -> (
    None
):
    t0, t1, t2 = (Partition("t", n) for n in range(3))
    first = Claim("A", ("t",), owned=(t1, t2), owned_generation=6)
    second = Claim("B", ("t",), owned=(t0, t1), user_generation=7)
    assert told(cooperative_sticky.assign({"t": 4}, [first, second])) == {
        "A": "t-2 t-3",
        "B": "t-0 t-1",
    }
    silent = Claim("B", ("t",), owned=(t0, t1))
    assert told(cooperative_sticky.assign({"t": 4}, [first, silent])) == {
        "A": "t-1 t-2",
        "B": "t-0 t-3",
    }


def test_members_without_topics_get_nothing_and_have_an_entry() -> None:
    for assign in (
        range_assignor.assign,
        round_robin.assign,
        sticky.assign,
        cooperative_sticky.assign,
    ):
        assert told(assign({"t": 2}, members("B", "C {}", topics="t"))) == {"B": "t-0 t-1", "C": ""}
        assert assign({}, members("A", "B", topics="gone")) == {"A": [], "B": []}
        assert assign({"t": 2}, []) == {}


def test_a_member_without_topics_that_comes_first_in_hash_order_slips_through_in_the_sticky_ones() -> (
    None
):
    """A flaw of Kafka's that is kept: the subscriptions then pass as equal, and equal ones get
    equal shares.
    """
    assert told(cooperative_sticky.assign({"t": 2}, members("B", "A {}", topics="t"))) == {
        "B": "t-1",
        "A": "t-0",
    }


def test_an_unknown_topic_is_passed_over() -> None:
    for assign in (
        range_assignor.assign,
        round_robin.assign,
        sticky.assign,
        cooperative_sticky.assign,
    ):
        assert told(
            assign({"t": 2, "empty": 0, "unwanted": 9}, members("A", topics="t gone empty"))
        ) == {"A": "t-0 t-1"}


def test_claims_on_partitions_that_do_not_exist_are_dropped() -> None:
    given = cooperative_sticky.assign(
        {"t": 2}, members("A owns t-0 t-9 u-0 gen 1", "B", topics="t")
    )
    assert told(given) == {"A": "t-0", "B": "t-1"}


def test_the_leaders_memory_of_a_generation_makes_older_claims_former_ones() -> None:
    """Different subscriptions: a claim older than what the leader has seen is a wish to be put
    back, and here nothing else moves.
    """
    texts = ("A {t u} owns t-0 t-1 t-2 gen 3", "B {t}")
    without = cooperative_sticky.assign({"t": 3, "u": 1}, members(*texts, topics="t u"))
    remembered = cooperative_sticky.assign(
        {"t": 3, "u": 1}, members(*texts, topics="t u"), generation=9
    )
    assert sorted(without["A"]) == sorted(remembered["A"])
    assert told(remembered)["B"] == ""


def test_a_former_owner_that_takes_no_part_fails_the_assignment_as_in_kafka() -> None:
    topics = {"t0": 5, "t1": 1}
    claims = members(
        "F {t1} owns t0-0 t1-0 gen 3",
        "G {t0} owns t0-0 t0-1 t0-2 t0-3 t0-4 gen 5",
        "H {t0}",
        topics="",
    )
    with pytest.raises(AssignmentFailed, match="NullPointerException"):
        cooperative_sticky.assign(topics, claims)
