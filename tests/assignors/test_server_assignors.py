"""The broker's assignors on small groups, with the answers that Kafka's own classes gave."""

from __future__ import annotations

import base64
import re

import pytest

from rebalsim.assignors import server_range, server_uniform
from rebalsim.assignors.claim import AssignmentFailed
from rebalsim.assignors.server_target import ServerMember, Targets, as_recorded, is_same


def topic_id(most: int, least: int) -> str:
    return (
        base64.urlsafe_b64encode(most.to_bytes(8, "big") + least.to_bytes(8, "big"))
        .decode()
        .rstrip("=")
    )


IDS = {"X": topic_id(1, 1), "Y": topic_id(5, 9), "Z": topic_id(2, 7), "W": topic_id(2, 2)}
NAMES = {each: name for name, each in IDS.items()}


def group(*texts: str, topics: str) -> list[ServerMember]:
    """`A {X} had X0 X1`, `a [i9]`."""
    found = []
    for text in texts:
        head, _, had = text.partition(" had ")
        instance, wants = (re.search(pattern, head) for pattern in (r"\[(.*?)\]", r"\{(.*?)\}"))
        target: dict[str, list[int]] = {}
        for p in had.split():
            target.setdefault(IDS[p[0]], []).append(int(p[1:]))
        wanted = (wants[1] if wants else topics).split()
        found.append(
            ServerMember(
                head.split()[0],
                tuple(IDS[name] for name in wanted),
                instance and instance[1],
                target,
            )
        )
    return found


def told(targets: Targets) -> dict[str, str]:
    return {
        member: " ".join(
            sorted(f"{NAMES[topic]}{n}" for topic, numbers in target.items() for n in numbers)
        )
        for member, target in targets.items()
    }


UNIFORM = {
    "a fresh group gets blocks, topic after topic": (
        "X6 Y6",
        ["M0", "M1"],
        {"M0": "X0 X1 X2 X3 X4 X5", "M1": "Y0 Y1 Y2 Y3 Y4 Y5"},
    ),
    "blocks go over the edges of topics": (
        "X4 Z4",
        ["A", "B", "C"],
        {"A": "X0 X1", "B": "X2 X3 Z0", "C": "Z1 Z2 Z3"},
    ),
    "a newcomer gets what is over the quota": (
        "X7",
        ["A had X0 X1 X2 X3", "B had X4 X5 X6", "C"],
        {"A": "X0 X1 X2", "B": "X4 X5", "C": "X3 X6"},
    ),
    "hash order decides who has the extra": (
        "X7",
        ["consumer-10 had X0 X1 X2 X3", "consumer-11 had X4 X5 X6", "consumer-12"],
        {"consumer-10": "X0 X1", "consumer-11": "X4 X5 X6", "consumer-12": "X2 X3"},
    ),
    "an extra that is not used is handed back": (
        "X4",
        ["A had X0", "B had X1 X2", "C"],
        {"A": "X0", "B": "X1 X2", "C": "X3"},
    ),
    "a leaver's partitions fill the others up": (
        "X6",
        ["A had X0 X1", "C had X4 X5"],
        {"A": "X0 X1 X2", "C": "X3 X4 X5"},
    ),
    "different topics: filled up evenly": (
        "X6 W6",
        ["A {X}", "B {X W}", "C {W}"],
        {"A": "X0 X2 X4", "B": "W4 X1 X3 X5", "C": "W0 W1 W2 W3 W5"},
    ),
    "different topics: only as far as a topic allows": (
        "X6 Y3",
        ["A {X} had X0 X1 X2 X3 X4 X5", "B {X Y}"],
        {"A": "X0 X1 X2 X3 X4", "B": "X5 Y0 Y1 Y2"},
    ),
}


@pytest.mark.parametrize("case", UNIFORM)
def test_uniform_answers_as_kafka_does(case: str) -> None:
    sizes, texts, expected = UNIFORM[case]
    topics = {IDS[text[0]]: int(text[1:]) for text in sizes.split()}
    assert (
        told(
            server_uniform.assign(
                topics, group(*texts, topics=" ".join(text[0] for text in sizes.split()))
            )
        )
        == expected
    )


def test_server_range_puts_static_members_first_and_cuts_every_topic() -> None:
    topics = {IDS["X"]: 5, IDS["Y"]: 3}
    assert told(server_range.assign(topics, group("b", "a [i9]", "c {X}", topics="X Y"))) == {
        "a": "X0 X1 Y0 Y1",
        "b": "X2 X3 Y2",
        "c": "X4",
    }


def test_server_range_does_not_remember() -> None:
    topics = {IDS["X"]: 4}
    assert told(server_range.assign(topics, group("b had X0 X1 X2 X3", "a", topics="X"))) == {
        "a": "X0 X1",
        "b": "X2 X3",
    }


def test_a_target_that_stays_is_the_very_same_object() -> None:
    before = group("A had X0 X1", "B had X2 X3", topics="X")
    after = server_uniform.assign({IDS["X"]: 4}, before)
    assert all(after[member.member_id] is member.target for member in before)
    mixed = group("A {X} had X0 X1", "B had W0", topics="X W")
    after = server_uniform.assign({IDS["X"]: 2, IDS["W"]: 1}, mixed)
    assert all(after[member.member_id] is member.target for member in mixed)


def test_equal_subscriptions_by_id_may_be_called_different() -> None:
    """As when names differ of which one has no topic: the other algorithm deals one by one
    instead of in blocks.
    """
    members = group("A", "B", topics="X")
    assert told(server_uniform.assign({IDS["X"]: 4}, members)) == {"A": "X0 X1", "B": "X2 X3"}
    assert told(server_uniform.assign({IDS["X"]: 4}, members, homogeneous=False)) == {
        "A": "X0 X2",
        "B": "X1 X3",
    }


def test_a_topic_no_longer_subscribed_to_is_dropped() -> None:
    topics = {IDS["X"]: 2, IDS["Y"]: 2}
    assert told(server_uniform.assign(topics, group("A had Y0 Y1 X0", "B had X1", topics="X"))) == {
        "A": "X0",
        "B": "X1",
    }
    unequal = group("A {X} had Y0 X0", "B {X Y} had X1", topics="")
    assert told(server_uniform.assign(topics, unequal)) == {"A": "X0 X1", "B": "Y0 Y1"}


@pytest.mark.parametrize("assign", [server_uniform.assign, server_range.assign])
def test_a_topic_without_metadata_fails_the_assignment(assign: server_uniform.assign) -> None:  # type: ignore[valid-type]
    with pytest.raises(AssignmentFailed, match="the metadata does not have"):
        assign({IDS["X"]: 1}, group("A", topics="X Y"))


@pytest.mark.parametrize("assign", [server_uniform.assign, server_range.assign])
def test_groups_without_members_or_topics_get_nothing(assign: server_uniform.assign) -> None:  # type: ignore[valid-type]
    assert assign({IDS["X"]: 1}, []) == {}
    assert assign({IDS["X"]: 1}, group("A", "B", topics="")) == {"A": {}, "B": {}}


def test_a_recorded_target_is_in_the_order_of_new_tables() -> None:
    target = {IDS["Y"]: (17, 3), IDS["X"]: (20, 4, 36), IDS["Z"]: ()}
    recorded = as_recorded(target)
    assert list(recorded) == [IDS["X"], IDS["Y"]]  # buckets 0 and 12; the empty one is gone
    assert recorded[IDS["Y"]] == (17, 3)  # buckets 1 and 3
    assert recorded[IDS["X"]] == (20, 4, 36)  # all in bucket 4, as they came
    assert is_same(target, {IDS["X"]: [4, 20, 36], IDS["Y"]: [3, 17], IDS["Z"]: []})
    assert not is_same(target, recorded)
