"""How many bytes a consumer's words are: those that Kafka's own serialisers write for them."""

from __future__ import annotations

import struct

from rebalsim.domain.ids import Partition
from rebalsim.protocol.classic.log import GroupRecord, MemberRecord, record_bytes
from rebalsim.protocol.classic_group import ClassicGroup, CoordinatorRules
from rebalsim.protocol.classic_member import Subscription
from rebalsim.protocol.wire_sizes import assignment_bytes, members_bytes_at_most, subscription_bytes

ORDERS = tuple(Partition("orders", n) for n in range(3))
BOTH = (*ORDERS, Partition("bills", 0))


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def by_topic(*topics: tuple[str, int]) -> bytes:
    return struct.pack(">i", len(topics)) + b"".join(
        text(name) + struct.pack(">i", count) + bytes(4 * count) for name, count in topics
    )


def test_a_subscription_is_its_version_topics_user_data_owned_partitions_generation_and_rack() -> (
    None
):
    head = struct.pack(">hi", 3, 2) + text("bills") + text("orders")
    nothing = (
        head + struct.pack(">i", -1) + by_topic() + struct.pack(">i", -1) + struct.pack(">h", -1)
    )
    assert subscription_bytes(Subscription(("bills", "orders"))) == len(nothing)
    owned = (
        head
        + struct.pack(">i", -1)
        + by_topic(("orders", 3), ("bills", 1))
        + struct.pack(">i", 7)
        + text("eu-1")
    )
    assert subscription_bytes(Subscription(("bills", "orders"), BOTH, 7, "eu-1")) == len(owned)


def test_sticky_says_all_that_it_had_and_its_generation_cooperative_sticky_the_generation_alone() -> (
    None
):
    plain = subscription_bytes(Subscription(("orders",)))
    assert (
        subscription_bytes(Subscription(("orders",), user_owned=ORDERS, user_generation=4))
        == plain + len(by_topic(("orders", 3))) + 4
    )
    assert subscription_bytes(Subscription(("orders",), user_generation=4)) == plain + 4


def test_an_assignment_is_its_version_partitions_and_user_data() -> None:
    assert assignment_bytes(BOTH) == len(
        struct.pack(">h", 3) + by_topic(("orders", 3), ("bills", 1)) + struct.pack(">i", -1)
    )
    assert assignment_bytes(()) == 10


def test_what_a_records_members_have_at_most_is_never_less_than_what_they_have() -> None:
    far = tuple(Partition(letter * 249, 0) for letter in "abc")
    for said, given in (
        (Subscription(("orders",)), ()),
        (Subscription(tuple(p.topic for p in far), far, 3, "r" * 120, far, 2), far),
        (Subscription(("orders",), ORDERS), None),
    ):
        member = MemberRecord(
            "i" * 249 + "-" + "u" * 36, "i" * 249, "c" * 249, 45_000_000, 300_000_000, said, given
        )
        group = ClassicGroup(
            "g",
            CoordinatorRules(metadata_bytes=subscription_bytes, assignment_bytes=assignment_bytes),
            str,
        )
        record = GroupRecord(1, "consumer", "range", member.member_id, (member,))
        assert record_bytes(group, record) - len(member.member_id) - 150 < members_bytes_at_most(
            record.members
        )
