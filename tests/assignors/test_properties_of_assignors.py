"""What holds for any group: nothing is lost, given twice or given to a stranger, loads are as
even as Kafka promises, order does not matter.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_groups import Group, groups

from rebalsim.assignors.claim import Assignment, Claim
from rebalsim.assignors.cooperative_check import check_cooperative
from rebalsim.assignors.least_moves import least_moves
from rebalsim.assignors.rack_awareness import RackInfo
from rebalsim.assignors.registry import (
    CLIENT_ASSIGNORS,
    SERVER_ASSIGNORS,
    client_assignor,
    server_assignor,
)
from rebalsim.assignors.server_target import ServerMember
from rebalsim.assignors.sticky_general import Loads, Moves
from rebalsim.assignors.universe import universe_of
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import hash_ordered

COMPLETE = [name for name in CLIENT_ASSIGNORS if name != "cooperative-sticky"]
IDS = {f"t{i}": f"{'ABCD'[i] * 21}A" for i in range(4)}
quick = settings(max_examples=120, deadline=None)


def assign(name: str, group: Group) -> Assignment:
    return client_assignor(name).assign(group.topics, group.members, group.replica_racks)


def on_server(name: str, group: Group) -> Assignment:
    members = []
    for member in group.members:
        target: dict[str, list[int]] = {}
        for p in member.owned:
            target.setdefault(IDS[p.topic], []).append(p.number)
        members.append(
            ServerMember(
                member.member_id, tuple(IDS[t] for t in member.topics), member.instance_id, target
            )
        )
    names = {topic_id: name for name, topic_id in IDS.items()}
    targets = server_assignor(name).assign(
        {IDS[topic]: count for topic, count in group.topics.items()}, members
    )
    return {
        member: [Partition(names[t], n) for t, numbers in target.items() for n in numbers]
        for member, target in targets.items()
    }


def next_round(group: Group, answer: Assignment) -> Group:
    return replace(
        group,
        members=[
            replace(member, owned=tuple(answer[member.member_id]), owned_generation=8)
            for member in group.members
        ],
    )


def assert_nobody_gets_what_it_did_not_ask_for(group: Group, answer: Assignment) -> None:
    assert sorted(answer) == sorted(member.member_id for member in group.members)
    for member in group.members:
        assert {p.topic for p in answer[member.member_id]} <= set(member.topics)


def assert_complete(group: Group, answer: Assignment) -> None:
    assert_nobody_gets_what_it_did_not_ask_for(group, answer)
    assert Counter(p for held in answer.values() for p in held) == Counter(group.partitions)


def spread(answer: Assignment) -> int:
    return max(map(len, answer.values())) - min(map(len, answer.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPLETE)
@quick
@given(group=groups())
def test_every_partition_is_given_exactly_once(name: str, group: Group) -> None:
    assert_complete(group, assign(name, group))


@pytest.mark.parametrize("name", SERVER_ASSIGNORS)
@quick
@given(group=groups(racks=False))
def test_the_brokers_assignors_give_every_partition_exactly_once(name: str, group: Group) -> None:
    assert_complete(group, on_server(name, group))


@quick
@given(group=groups())
def test_what_the_cooperative_one_withholds_it_gives_in_the_next_round(group: Group) -> None:
    """With equal subscriptions, or without racks, the second answer is complete; members only
    gain in it.
    """
    first = assign("cooperative-sticky", group)
    assert_nobody_gets_what_it_did_not_ask_for(group, first)
    owned = {member.member_id: member.owned for member in group.members}
    check_cooperative("cooperative-sticky", owned, first)
    given_once = Counter(p for held in first.values() for p in held)
    assert set(given_once.values()) <= {1}
    owner = {p: member for member, held in owned.items() for p in held}
    for p in set(group.partitions) - set(given_once):
        assert p in owner  # withheld from somebody, because somebody has it
    again = group
    for _ in range(3):
        again = next_round(again, first)
        first = assign("cooperative-sticky", again)
        if all(set(member.owned) <= set(first[member.member_id]) for member in again.members):
            break
    assert_complete(group, first)


@quick
@given(group=groups(equal=True, racks=False))
def test_with_equal_subscriptions_two_rounds_are_enough_and_nobody_loses_in_the_second(
    group: Group,
) -> None:
    second_group = next_round(group, assign("cooperative-sticky", group))
    second = assign("cooperative-sticky", second_group)
    assert_complete(group, second)
    for member in second_group.members:
        assert set(member.owned) <= set(second[member.member_id])


@pytest.mark.parametrize("name", ["sticky", "roundrobin"])
@quick
@given(group=groups(equal=True))
def test_with_equal_subscriptions_loads_differ_by_one_at_most(name: str, group: Group) -> None:
    assert spread(assign(name, group)) <= 1


@quick
@given(group=groups(equal=True, racks=False))
def test_the_brokers_uniform_keeps_loads_even_and_moves_no_more_than_needed(group: Group) -> None:
    answer = on_server("uniform", group)
    assert spread(answer) <= 1
    assert_moves_are_few(group, answer, slack=len(group.members))


@quick
@given(group=groups(equal=True, racks=False))
def test_sticky_moves_no_more_than_it_must(group: Group) -> None:
    """Without racks the quotas leave no slack at all: the number of moves is the least there can
    be.
    """
    assert_moves_are_few(group, assign("sticky", group), slack=0)


def assert_moves_are_few(group: Group, answer: Assignment, slack: int) -> None:
    before = {member.member_id: list(member.owned) for member in group.members}
    source = {p: member for member, held in before.items() for p in held}
    moves = sum(
        1 for member, held in answer.items() for p in held if source.get(p, member) != member
    )
    least = least_moves(before, list(answer), group.partitions)
    assert least <= moves <= least + slack


@quick
@given(group=groups())
def test_range_keeps_the_balance_of_every_topic(group: Group) -> None:
    answer = assign("range", group)
    for topic in group.topics:
        loads = [
            sum(p.topic == topic for p in answer[m.member_id])
            for m in group.members
            if topic in m.topics
        ]
        assert not loads or max(loads) - min(loads) <= 1


@quick
@given(group=groups(equal=False, racks=False))
def test_with_different_subscriptions_sticky_leaves_no_move_that_would_help(group: Group) -> None:
    """Kafka's own bound: nobody could take a partition from a member that has two more than
    itself (unless balancing was reverted).
    """
    answer = assign(
        "sticky",
        replace(
            group,
            members=[replace(m, user_owned=None, user_generation=None) for m in group.members],
        ),
    )
    load = {member: len(held) for member, held in answer.items()}
    for member in group.members:
        for other, held in answer.items():
            assert (
                not any(p.topic in member.topics for p in held)
                or load[other] <= load[member.member_id] + 1
            )


@pytest.mark.parametrize("name", CLIENT_ASSIGNORS)
@quick
@given(group=groups(), seed=st.integers(0, 1000))
def test_the_order_of_members_topics_and_claims_makes_no_difference(
    name: str, group: Group, seed: int
) -> None:
    """Up to nine members hardly ever share a bucket; those that do keep their order here, as in
    Kafka that one shows.
    """
    chance = random.Random(seed)
    members = [
        replace(
            m,
            owned=tuple(chance.sample(m.owned, len(m.owned))),
            topics=tuple(chance.sample(m.topics, len(m.topics))),
        )
        for m in group.members
    ]
    by_id = {member.member_id: member for member in members}
    mixed = [by_id[member_id] for member_id in hash_ordered(list(by_id))]
    topics = dict(chance.sample(sorted(group.topics.items()), len(group.topics)))
    one = assign(name, group)
    other = client_assignor(name).assign(topics, mixed, group.replica_racks)
    assert {m: sorted(held) for m, held in one.items()} == {
        m: sorted(held) for m, held in other.items()
    }


@pytest.mark.parametrize("name", CLIENT_ASSIGNORS)
@quick
@given(group=groups())
def test_input_is_left_as_it_was(name: str, group: Group) -> None:
    before = (dict(group.topics), list(group.members))
    first = assign(name, group)
    for held in first.values():
        held.reverse()
        held.append(Partition("spoilt", 0))
    assert (group.topics, group.members) == before
    again = assign(name, group)
    assert Partition("spoilt", 0) not in [p for held in again.values() for p in held]


@quick
@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_the_score_is_the_sum_of_the_differences_of_all_pairs(sizes: list[int]) -> None:
    members = [Claim(f"m{i}", ("t",)) for i in range(len(sizes))]
    loads = Loads(universe_of({"t": 1}, members), members)
    loads.size = sizes
    assert loads.score() == sum(abs(a - b) for i, a in enumerate(sizes) for b in sizes[:i])


def test_a_snapshot_brings_the_loads_back() -> None:
    members = [Claim("a", ("t",)), Claim("b", ("t", "u"))]
    universe = universe_of({"t": 4, "u": 1}, members)
    loads = Loads(universe, members)
    loads.sort_loads()
    loads.place_free(RackInfo(universe, members, None))
    before = loads.snapshot()
    sizes, owner, queue = list(loads.size), list(loads.owner), list(loads.queue)
    moved = loads.owner.index(0)
    Moves(loads, {})._move(moved, 1)
    assert loads.owner != owner and loads.size != sizes
    loads.restore(before)
    assert (loads.owner, loads.size, loads.queue) == (owner, sizes, queue)
    assert [len(held) for held in loads.held] == sizes
