"""Every kind of request in every state of a classic group, by who sends it: the answer, as a
table.
"""

from __future__ import annotations

import pytest
from classic_world import World

from rebalsim.protocol.classic_group import unload

# who sends it: member id, instance id
SENDERS = {
    "leader": ("a-1", None),
    "follower": ("b-1", None),
    "static": ("s-1", "s"),
    "static, other id": ("old", "s"),
    "static, wrong instance": ("s-1", "nobody"),
    "pending": ("p-1", None),
    "stranger with an id": ("x-9", None),
}

# state: sender: what a JoinGroup (unchanged metadata), SyncGroup, Heartbeat, commit and LeaveGroup
# (of it alone) are answered; "parked" means no answer yet
TABLE = """
absent     leader                  UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     GROUP_ID_NOT_FOUND     UNKNOWN_MEMBER_ID
Empty      leader                  UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Empty      static                  UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Preparing  leader                  parked                REBALANCE_IN_PROGRESS REBALANCE_IN_PROGRESS NONE                   NONE
Preparing  follower                parked                REBALANCE_IN_PROGRESS REBALANCE_IN_PROGRESS NONE                   NONE
Preparing  static                  parked                REBALANCE_IN_PROGRESS REBALANCE_IN_PROGRESS NONE                   NONE
Preparing  static,_other_id        FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID     FENCED_INSTANCE_ID
Preparing  static,_wrong_instance  UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Preparing  pending                 parked                UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      NONE
Preparing  stranger_with_an_id     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Completing leader                  NONE                  NONE                  NONE                  REBALANCE_IN_PROGRESS  NONE
Completing follower                NONE                  parked                NONE                  REBALANCE_IN_PROGRESS  NONE
Completing static                  NONE                  parked                NONE                  REBALANCE_IN_PROGRESS  NONE
Completing static,_other_id        FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID     FENCED_INSTANCE_ID
Completing pending                 parked                UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      NONE
Completing stranger_with_an_id     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Stable     leader                  parked                NONE                  NONE                  NONE                   NONE
Stable     follower                NONE                  NONE                  NONE                  NONE                   NONE
Stable     static                  NONE                  NONE                  NONE                  NONE                   NONE
Stable     static,_other_id        FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID    FENCED_INSTANCE_ID     FENCED_INSTANCE_ID
Stable     static,_wrong_instance  UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
Stable     pending                 parked                UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      NONE
Stable     stranger_with_an_id     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID     UNKNOWN_MEMBER_ID      UNKNOWN_MEMBER_ID
"""

CASES = [
    (state, sender.replace("_", " "), what, answer)
    for state, sender, *answers in (row.split() for row in TABLE.strip().splitlines())
    for what, answer in zip(("join", "sync", "heartbeat", "commit", "leave"), answers)
]


def world_in(state):
    world = World(initial_rebalance_delay=0)
    if state == "absent":
        return world
    if state == "Empty":
        member = world.enter("a")
        world.at(0)
        world.leave(member.id)
        assert world.state == "Empty"
        return world
    world.stable("a", "b", "i:s")
    if state in ("Preparing", "Completing"):
        world.enter("d")
        assert world.state == "PreparingRebalance"
    if state == "Completing":
        for member, instance in (("a-1", None), ("b-1", None), ("s-1", "s")):
            world.join(member, instance=instance)
        assert world.state == "CompletingRebalance"
    world.join(client="p")
    return world


@pytest.mark.parametrize(
    ("state", "sender", "what", "answer"), CASES, ids=[", ".join(case[:3]) for case in CASES]
)
def test_the_answer_to(state, sender, what, answer):
    world = world_in(state)
    member, instance = SENDERS[sender]
    match what:
        case "join":
            asked = world.join(member, instance=instance)
        case "sync":
            asked = world.sync(member, instance=instance)
        case "heartbeat":
            asked = world.heartbeat(member, instance=instance)
        case "commit":
            asked = world.commit(member, instance=instance)
        case "leave":
            asked = world.leave((member, instance))
    if what == "leave":
        assert [left.error.name for left in asked.response.members] == [answer]
        assert asked.error == "NONE"
    else:
        assert (asked.error or "parked") == answer


@pytest.mark.parametrize("what", ["join", "sync", "heartbeat", "commit", "leave"])
@pytest.mark.parametrize("member", ["a-1", "x-9", ""])
def test_a_dead_group_refers_everybody_to_another_coordinator(what, member):
    world = world_in("Stable")
    unload(world.group, world.now_us)
    assert getattr(world, what)(member).error == "COORDINATOR_NOT_AVAILABLE"


@pytest.mark.parametrize("state", ["Preparing", "Completing", "Stable"])
@pytest.mark.parametrize("what", ["sync", "heartbeat", "commit"])
@pytest.mark.parametrize("other", [-1, 1])
def test_another_generation_is_illegal(state, what, other):
    world = world_in(state)
    asked = getattr(world, what)("b-1", generation=world.group.generation + other)
    assert asked.error == "ILLEGAL_GENERATION"


@pytest.mark.parametrize("state", ["Completing", "Stable"])
@pytest.mark.parametrize("wrong", [{"protocol": "sticky"}, {"kind": "connect"}])
def test_a_sync_for_another_protocol_is_inconsistent(state, wrong):
    assert world_in(state).sync("b-1", **wrong).error == "INCONSISTENT_GROUP_PROTOCOL"


@pytest.mark.parametrize("state", ["Preparing", "Completing", "Stable"])
@pytest.mark.parametrize("wrong", [{"offers": "sticky:t"}, {"offers": ""}, {"kind": "connect"}])
@pytest.mark.parametrize("member", ["", "b-1", "p-1"])
def test_a_join_without_a_common_protocol_is_inconsistent(state, wrong, member):
    world = world_in(state)
    before = sorted(world.group.members), world.state
    assert world.join(member, client="n", **wrong).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert (sorted(world.group.members), world.state) == before


@pytest.mark.parametrize("session", [5.999, 1800.001])
def test_a_session_timeout_out_of_bounds_is_refused_before_the_group_exists(session):
    world = World()
    asked = world.join("who-1", session=session)
    assert (asked.error, asked.id, world.group.exists) == (
        "INVALID_SESSION_TIMEOUT",
        "who-1",
        False,
    )


@pytest.mark.parametrize("session", [6, 1800])
def test_a_session_timeout_on_the_bounds_is_accepted(session):
    assert World().join(session=session).error == "MEMBER_ID_REQUIRED"
