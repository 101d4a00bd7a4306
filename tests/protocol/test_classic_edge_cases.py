"""What a naive coordinator gets wrong: the catalogue's cases that the coordinator decides, by
their numbers, and what surprised us.
"""

from __future__ import annotations

import pytest
from classic_world import World

from rebalsim.protocol.messages import LeaveGroupRequest, LeavingMember

# -------------------------------------------------------------------------------- the initial delay


def test_a_lone_member_starts_after_one_initial_delay():
    world = World()
    joined = world.enter("a")
    world.at(10)
    assert (joined.answered_at, joined.response.generation, joined.response.leader) == (3, 1, "a-1")


def test_01_a_member_added_during_the_initial_delay_buys_a_whole_further_window():
    world = World()
    first = world.enter("a")
    world.at(0.1)
    second = world.enter("b")
    world.at(10)
    assert (first.answered_at, second.answered_at) == (6, 6)
    assert world.told("InitialDelayExtended") == [{"until_us": 6_000_000}]


def test_the_windows_of_the_initial_delay_go_on_while_members_are_added():
    world = World()
    world.at(0.004).enter("a")
    world.at(0.504).enter("b")
    world.at(2.5).enter("c")
    world.at(5.9).enter("d")
    world.at(9.003)
    assert world.state == "PreparingRebalance"
    world.at(9.004)
    assert (world.state, world.group.generation) == ("CompletingRebalance", 1)


def test_the_initial_delay_is_capped_by_the_rebalance_timeout():
    world = World()
    joins = [world.enter("a", rebalance=7)]
    for second in range(1, 9):
        if world.at(second).state == "PreparingRebalance":
            joins.append(world.enter(f"m{second}", rebalance=7))
    # windows of 3 and 3, then min(3, 7 - 3 - 3) = 1
    assert joins[0].answered_at == 7


def test_a_full_barrier_does_not_shorten_the_initial_delay():
    world = World()
    world.enter("a")
    world.at(2.9)
    assert world.group.all_joined() and world.state == "PreparingRebalance"


def test_without_an_initial_delay_a_group_starts_one_event_later_with_whoever_is_in_it():
    world = World(initial_rebalance_delay=0)
    joined = world.enter("a")
    assert (joined.error, world.timer("join-g")) == (None, 0)
    assert world.at(0) and joined.error == "NONE"


def test_02_every_start_from_empty_has_an_initial_delay_that_can_be_extended():
    world = World()
    (member,) = world.stable("a")
    world.at(10).leave(member)
    assert (world.state, world.group.generation) == ("Empty", 2)
    first = world.enter("a")
    world.at(11).enter("b")
    world.at(30)
    assert first.answered_at == 16


def test_an_addition_in_the_last_window_of_a_capped_delay_extends_the_next_start_though_nobody_comes():
    world = World()
    first = world.enter("a", rebalance=3)
    world.at(1)
    second = world.enter("b", rebalance=3)
    world.at(3)
    assert first.answered_at == 3  # nothing remained, so the flag was not looked at, nor cleared
    world.leave(first.id, second.id)
    again = world.enter("a")
    world.at(30)
    assert again.answered_at == 9


def test_pending_ids_neither_hold_nor_extend_the_initial_delay():
    world = World()
    joined = world.enter("a")
    world.join(client="b")
    world.at(10)
    assert joined.answered_at == 3


def test_the_last_leave_during_the_initial_delay_does_not_end_it():
    world = World()
    joined = world.enter("a")
    world.at(1).leave("a-1")
    assert joined.error == "UNKNOWN_MEMBER_ID" and (world.state, world.group.members) == (
        "PreparingRebalance",
        {},
    )
    world.at(3)
    assert (world.state, world.group.generation) == ("Empty", 1)


def test_the_last_expiry_during_the_initial_delay_ends_it_at_once():
    world = World(initial_rebalance_delay=400)
    world.enter("a", rebalance=900)
    world.at(300)
    assert (world.state, world.group.generation) == ("Empty", 1)


# -------------------------------------------------------------------------------------- pending ids


def test_03_only_the_second_join_of_a_dynamic_member_starts_a_rebalance():
    world = World(initial_rebalance_delay=0)
    world.stable("a")
    first = world.at(5).join(client="b")
    assert (first.error, world.state, world.session(first.id)) == (
        "MEMBER_ID_REQUIRED",
        "Stable",
        50,
    )
    world.join(first.id, client="b")
    assert world.state == "PreparingRebalance"


def test_an_old_client_is_added_by_its_first_join():
    world = World(initial_rebalance_delay=0)
    joined = world.join(version=3)
    world.at(0)
    assert joined.error == "NONE"


@pytest.mark.parametrize("end", ["joins", "leaves", "expires"])
def test_04_a_pending_id_holds_the_barrier_until_it(end):
    world = World(initial_rebalance_delay=0)
    leader, _ = world.stable("a", "b")
    pending = world.at(10).join(client="p", session=20)
    rejoined = [world.join(leader), world.join("b-1")]
    assert world.group.awaiting_join == 2 and rejoined[0].error is None
    match end:
        case "joins":
            world.at(15).join(pending.id, client="p")
        case "leaves":
            world.at(15).leave(pending.id)
        case "expires":
            world.at(30)
    assert {(asked.error, asked.answered_at) for asked in rejoined} == {
        ("NONE", 30 if end == "expires" else 15)
    }


def test_a_pending_id_does_not_hold_the_barrier_beyond_its_timer():
    world = World(initial_rebalance_delay=0)
    leader, _ = world.stable("a", "b", rebalance=20)
    pending = world.at(10).join(client="p", session=600)
    rejoined = world.join(leader, rebalance=20)
    world.at(30)
    assert rejoined.answered_at == 30 and pending.id in world.group.pending


def test_members_gone_and_an_id_outstanding_make_the_group_empty_in_the_same_ms():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a")
    world.at(10).join(client="p")
    world.leave(member)
    assert (world.state, world.timer("join-g")) == ("PreparingRebalance", 10)
    world.at(10)
    assert (world.state, world.group.generation) == ("Empty", 2)


def test_a_pending_id_with_an_instance_id_is_an_internal_error():
    world = World()
    pending = world.join(client="p")
    asked = world.join(pending.id, client="p", instance="i")
    assert (asked.error, asked.id) == ("UNKNOWN_SERVER_ERROR", "")


# ------------------------------------------------------------------ the barrier and who waits in it


def test_10_a_heartbeat_learns_of_a_rebalance_while_it_prepares_but_not_while_it_completes():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b")
    world.enter("c")
    assert world.heartbeat(leader).error == "REBALANCE_IN_PROGRESS"
    world.join(leader), world.join(follower)
    assert (world.state, world.heartbeat(leader).error) == ("CompletingRebalance", "NONE")


def test_11_a_parked_member_never_expires_and_its_timer_is_set_anew_by_the_barrier():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b")
    parked = world.at(10).join(leader)
    for second in range(20, 200, 20):
        world.at(second).heartbeat(follower)
    assert world.session(leader) is None and leader in world.group.members
    world.at(200).join(follower)
    assert (parked.answered_at, world.session(leader)) == (200, 245)


def test_12_a_member_that_died_while_parked_is_in_the_generation_and_found_a_session_later():
    world = World(initial_rebalance_delay=0)
    dead, other = world.stable("a", "b")
    world.at(10).join(dead)
    world.at(11).join(other)
    assert (world.state, world.group.leader_id) == ("CompletingRebalance", dead)
    waiting = world.sync(other)
    world.at(55.999)
    assert waiting.error is None
    world.at(56)
    assert (waiting.error, world.group.leader_id, world.state) == (
        "REBALANCE_IN_PROGRESS",
        other,
        "PreparingRebalance",
    )


def test_a_new_member_waits_no_longer_than_five_minutes():
    world = World(initial_rebalance_delay=0)
    (old,) = world.stable("a", rebalance=600)
    new = world.at(1).enter("b", rebalance=600)
    for second in range(20, 400, 20):
        world.at(second).heartbeat(old)
    assert (new.error, new.id, new.answered_at) == ("UNKNOWN_MEMBER_ID", "", 301)


def test_with_the_default_rebalance_timeout_the_newcomer_goes_just_before_the_barrier_ends():
    world = World(initial_rebalance_delay=0)
    (old,) = world.stable("a")
    new = world.at(1).enter("b")
    for second in range(20, 301, 20):
        world.at(second).heartbeat(old)
    world.at(301)
    assert (new.error, new.answered_at, world.state) == ("UNKNOWN_MEMBER_ID", 301, "Empty")


def test_13_the_barrier_timer_is_fixed_when_it_opens():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b", rebalance=60)
    world.at(10).join(leader, rebalance=60)
    world.at(20).enter("c", rebalance=500)
    assert world.timer("join-g") == 70
    world.heartbeat(follower)
    world.at(40).heartbeat(follower)
    world.at(70)
    assert world.state == "CompletingRebalance" and follower not in world.group.members


def test_14_the_barrier_timer_is_the_longest_rebalance_timeout_including_the_newcomers():
    world = World(initial_rebalance_delay=0)
    world.stable("a", "b", rebalance=60)
    world.at(10).enter("c", rebalance=100)
    assert world.timer("join-g") == 110


def test_15_the_barrier_timer_kicks_dynamic_members_but_keeps_static_ones():
    world = World(initial_rebalance_delay=0)
    leader, late, static = world.stable("a", "b", "i:s", rebalance=30, session=100)
    rejoined = world.at(10).join(leader, rebalance=30)
    world.at(40)
    assert sorted(world.group.members) == [leader, static]
    assert sorted(member.member_id for member in rejoined.response.members) == [leader, static]
    assert world.told("BarrierCompleted")[-1]["kicked"] == (late,)
    assert world.session(late) is None and world.session(static) == 140


def test_26_members_left_behind_hear_it_from_their_next_request_only():
    world = World(initial_rebalance_delay=0)
    leader, late, static = world.stable("a", "b", "i:s", rebalance=30, session=100)
    world.at(10).join(leader, rebalance=30)
    world.at(40)
    assert (world.heartbeat(late, generation=1).error, world.commit(late, generation=1).error) == (
        "UNKNOWN_MEMBER_ID",
    ) * 2
    assert (world.heartbeat(static, 1, "s").error, world.commit(static, 1, "s").error) == (
        "ILLEGAL_GENERATION",
    ) * 2


def test_16_a_barrier_that_only_static_members_missed_is_put_off():
    world = World(initial_rebalance_delay=0)
    static, dynamic = world.stable("i:s", "a", rebalance=30, session=100)
    world.at(10).leave(dynamic)
    world.at(40)
    assert (world.state, world.group.generation, world.timer("join-g")) == (
        "PreparingRebalance",
        1,
        70,
    )
    assert world.told("GroupStateChanged")[-1]["trigger"] == "barrier-unmet"
    rejoined = world.join(static, instance="s", rebalance=30)
    assert (rejoined.error, rejoined.answered_at) == ("NONE", 40)


def test_a_member_that_repeats_its_join_is_answered_once():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b")
    first, second = world.join(leader), world.join(leader)
    world.join(follower)
    assert (first.error, second.error) == (None, "NONE")


def test_17_a_hung_member_whose_heartbeats_go_on_holds_the_barrier_until_its_timer():
    world = World(initial_rebalance_delay=0)
    leader, hung = world.stable("a", "b", rebalance=120)
    rejoined = world.at(1).join(leader, rebalance=120)
    for second in range(10, 121, 10):
        assert world.at(second).heartbeat(hung).error == "REBALANCE_IN_PROGRESS"
    world.at(121)
    assert (rejoined.answered_at, world.told("BarrierCompleted")[-1]["by"]) == (121, "timer")


def test_18_an_early_replacement_waits_for_the_dead_members_session():
    world = World(initial_rebalance_delay=0)
    leader, dead = world.stable("a", "b")
    world.at(9.302).heartbeat(dead)
    world.heartbeat(leader)
    replacement = world.at(20.003).enter("x")
    assert world.at(21.002).heartbeat(leader).error == "REBALANCE_IN_PROGRESS"
    rejoined = world.at(21.004).join(leader)
    world.at(60)
    assert (replacement.answered_at, rejoined.answered_at) == (54.302, 54.302)
    assert world.told("BarrierCompleted")[-1] | {"leader": ""} == {
        "generation": 2,
        "members": 2,
        "by": "removal",
        "last": dead,
        "kicked": (),
        "leader": "",
        "assignor": "range",
    }


# ------------------------------------------------------------------------------------------ rejoins


@pytest.mark.parametrize(("metadata", "rebalances"), [("t", False), ("t+generation", True)])
def test_19_a_followers_rejoin_in_stable_rebalances_only_with_other_metadata(metadata, rebalances):
    world = World(initial_rebalance_delay=0)
    _, follower = world.stable("a", "b")
    asked = world.join(follower, offers=f"range:{metadata}")
    assert (world.state == "PreparingRebalance") is rebalances
    if not rebalances:
        assert (asked.error, asked.response.generation, asked.response.members) == ("NONE", 1, ())
        assert world.sync(follower).response.assignment == f"for {follower}"
    else:
        assert world.told("GroupStateChanged")[-1]["trigger"] == "metadata-changed"


def test_a_leaders_rejoin_in_stable_always_rebalances():
    world = World(initial_rebalance_delay=0)
    leader, _ = world.stable("a", "b")
    world.join(leader)
    assert (world.state, world.told("GroupStateChanged")[-1]["trigger"]) == (
        "PreparingRebalance",
        "leader-rejoined",
    )


def test_in_completing_a_repeated_join_gets_its_answer_again_and_a_changed_one_starts_over():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b")
    world.join(leader), world.join(follower)
    assert [len(world.join(member).response.members) for member in (leader, follower)] == [2, 0]
    waiting = world.sync(follower)
    world.join(leader, offers="range:u")
    assert (waiting.error, world.state) == ("REBALANCE_IN_PROGRESS", "PreparingRebalance")


def test_protocols_in_another_order_are_other_metadata():
    world = World(initial_rebalance_delay=0)
    _, follower = world.stable("a", "b", offers="range:t sticky:t")
    world.join(follower, offers="sticky:t range:t")
    assert world.state == "PreparingRebalance"


def test_a_member_even_alone_cannot_switch_to_protocols_without_a_common_name():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a", offers="range:t")
    assert world.join(member, offers="sticky:t").error == "INCONSISTENT_GROUP_PROTOCOL"
    assert world.join(member, offers="sticky:t range:t").error == "NONE"


# ------------------------------------------------------------------------------- voting and leaders


@pytest.mark.parametrize(
    ("offers", "selected"),
    [
        (("range:t sticky:t", "range:t sticky:t", "sticky:t range:t"), "range"),
        (("range:t sticky:t", "sticky:t range:t", "sticky:t range:t"), "sticky"),
        (
            ("cooperative-sticky:t range:t", "range:t cooperative-sticky:t"),
            "range",
        ),  # a tie: HashMap order of the names
        (("range:t sticky:t", "sticky:t range:t"), "sticky"),
        (
            ("sticky:t range:t", "sticky:t range:t", "range:t"),
            "range",
        ),  # only what all support can be voted for
        (("custom:t sticky:t range:t", "range:t sticky:t", "range:t custom:t sticky:t"), "range"),
    ],
)
def test_the_protocol_with_the_most_first_votes_among_the_common_ones_is_selected(offers, selected):
    world = World()
    joins = [world.enter(f"m{i}", offers=offer) for i, offer in enumerate(offers)]
    world.at(10)
    assert {asked.response.protocol for asked in joins} == {selected}


def test_the_first_member_added_leads_and_goes_on_leading():
    world = World(initial_rebalance_delay=0)
    leader, follower = world.stable("a", "b")
    for _ in range(3):
        world.join(follower, offers=f"range:{world.group.generation}")
        world.join(leader)
        assert world.group.leader_id == leader
        world.settle()


def test_when_the_leader_goes_the_first_member_in_javas_hash_order_leads():
    # buckets in a table of 16: h ^ h>>>16, lowest four bits, of "<client>-1"
    names = ["a", "b", "c", "d", "e"]

    def bucket(text):
        h = 0
        for char in text:
            h = (31 * h + ord(char)) & 0xFFFFFFFF
        return (h ^ h >> 16) & 15

    world = World(initial_rebalance_delay=0)
    members = world.stable(*names)
    world.leave(members[0])
    assert world.group.leader_id == min(members[1:], key=bucket)


def test_an_absent_static_leader_is_replaced_by_a_member_that_joined():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("i:s", "a", rebalance=30, session=100)
    rejoined = world.at(10).join(other, offers="range:changed", rebalance=30)
    world.at(40)
    assert (world.group.leader_id, rejoined.response.leader, leader in world.group.members) == (
        other,
        other,
        True,
    )
    assert len(rejoined.response.members) == 2


# ----------------------------------------------------------------------------------- static members


def test_20_a_static_members_restart_in_stable_compares_the_selected_protocol_only():
    world = World(initial_rebalance_delay=0)
    _, static = world.stable("a", "i:s")
    back = world.at(5).join(instance="s", offers="range:quite-another-topic")
    assert (world.state, back.error, back.response.generation, back.response.skip_assignment) == (
        "Stable",
        "NONE",
        1,
        False,
    )
    assert world.sync(back.id, instance="s").response.assignment == f"for {static}"


def test_a_static_members_restart_that_changes_the_selected_protocol_rebalances():
    world = World(initial_rebalance_delay=0)
    world.stable("i:s", offers="range:t sticky:t")
    assert world.group.protocol == "range"
    back = world.join(instance="s", offers="sticky:t range:t")
    assert (world.state, back.response.protocol, back.response.generation) == (
        "CompletingRebalance",
        "sticky",
        2,
    )
    assert "static-protocol-changed" in [
        note["trigger"] for note in world.told("GroupStateChanged") if "trigger" in note
    ]


def test_21_a_returning_static_leader_is_told_to_skip_the_assignment():
    world = World(initial_rebalance_delay=0)
    old, other = world.stable("i:s", "a")
    back = world.join(instance="s")
    assert (back.response.skip_assignment, back.response.leader, len(back.response.members)) == (
        True,
        back.id,
        2,
    )
    assert (
        world.sync(back.id, {back.id: "new", other: "new"}).response.assignment == f"for {old}"
    )  # the second list is ignored


def test_an_old_client_that_returns_as_static_leader_is_not_told_that_it_leads():
    world = World(initial_rebalance_delay=0)
    (old,) = world.stable("i:s")
    back = world.join(instance="s", version=8)
    assert (back.response.leader, back.response.members, back.response.skip_assignment) == (
        old,
        (),
        False,
    )
    assert world.group.leader_id == back.id


def test_22_a_static_join_in_completing_forces_a_rebalance():
    world = World(initial_rebalance_delay=0)
    leader, static = world.stable("a", "i:s")
    world.join(leader), world.join(static, instance="s")
    assert world.state == "CompletingRebalance"
    parked = world.sync(static, instance="s")
    back = world.join(instance="s")
    assert (parked.error, world.state, back.error) == (
        "FENCED_INSTANCE_ID",
        "PreparingRebalance",
        None,
    )


def test_a_static_join_in_preparing_counts_as_its_rejoin_and_fences_the_old_one():
    world = World(initial_rebalance_delay=0)
    leader, static = world.stable("a", "i:s")
    old = world.join(static, instance="s", offers="range:changed")
    assert world.state == "PreparingRebalance"
    back = world.join(instance="s")
    rejoined = world.join(leader)
    assert (old.error, old.id, back.error, rejoined.error) == (
        "FENCED_INSTANCE_ID",
        static,
        "NONE",
        "NONE",
    )


def test_23_a_static_members_session_runs_since_its_last_heartbeat_and_its_return_within_it_disturbs_nobody():
    world = World(initial_rebalance_delay=0)
    leader, static = world.stable("a", "i:s")
    world.at(9.002).heartbeat(static, instance="s")
    assert world.session(static) == 54.002
    for second in (20, 40, 50):
        world.at(second).heartbeat(leader)
    world.join(instance="s")
    world.at(54.5).heartbeat(leader)
    assert (world.state, world.group.generation) == ("Stable", 1)


def test_a_static_member_that_stays_away_beyond_its_session_costs_two_rebalances():
    world = World(initial_rebalance_delay=0)
    leader, static = world.stable("a", "i:s")
    world.at(40).heartbeat(leader)
    world.at(45)
    assert (world.state, static in world.group.members) == ("PreparingRebalance", False)
    world.join(leader), world.settle()
    back = world.at(50).join(instance="s")
    assert (world.state, back.error) == ("PreparingRebalance", None)
    world.join(leader)
    assert world.group.generation == 3


def test_after_a_replacement_the_session_runs_with_the_old_timeout_until_it_is_renewed():
    world = World(initial_rebalance_delay=0)
    world.stable("i:s", session=45)
    back = world.at(10).join(instance="s", session=10)
    assert world.session(back.id) == 55
    world.at(12).heartbeat(back.id, instance="s")
    assert world.session(back.id) == 22


@pytest.mark.parametrize("what", ["join", "sync", "heartbeat", "commit", "leave"])
def test_the_old_process_of_a_static_member_is_fenced_by(what):
    world = World(initial_rebalance_delay=0)
    _, old = world.stable("a", "i:s")
    world.join(instance="s")
    match what:
        case "leave":
            error = world.leave((old, "s")).response.members[0].error.name
        case _:
            error = getattr(world, what)(old, instance="s").error
    assert error == "FENCED_INSTANCE_ID" and len(world.told("Fenced")) == 1


def test_a_static_member_replaced_before_its_sync_leaves_an_id_that_rebalances_a_healthy_group():
    world = World(initial_rebalance_delay=0)
    leader, static = world.stable("a", "i:s", rebalance=60)
    world.join(leader, rebalance=60), world.join(static, instance="s", rebalance=60)
    world.sync(leader, {})
    back = world.at(1).join(instance="s", rebalance=60)
    world.sync(back.id, instance="s")
    for second in (20, 40, 59):
        world.at(second).heartbeat(leader)
        world.heartbeat(back.id, instance="s")
    assert world.state == "Stable"
    world.at(60)
    assert (world.state, sorted(world.group.members)) == (
        "PreparingRebalance",
        sorted([leader, back.id]),
    )


# ------------------------------------------------------------------------------------------ commits


def test_25_a_commit_with_the_old_generation_succeeds_while_preparing_and_renews_the_session():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.at(10).enter("c")
    assert world.at(30).commit(other, generation=1).error == "NONE"
    assert (world.session(other), world.session(leader)) == (75, 45)


def test_a_commit_while_completing_is_refused_and_renews_nothing():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.join(leader), world.join(other)
    assert world.at(10).commit(other).error == "REBALANCE_IN_PROGRESS"
    assert world.session(other) == 45


def test_a_commit_in_stable_renews_the_session():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a")
    assert (world.at(10).commit(member).error, world.session(member)) == ("NONE", 55)


@pytest.mark.parametrize(
    ("state", "answer"), [("absent", "NONE"), ("Empty", "NONE"), ("Stable", "UNKNOWN_MEMBER_ID")]
)
def test_a_commit_of_nobody_is_accepted_only_where_the_group_has_no_members(state, answer):
    world = World(initial_rebalance_delay=0)
    if state != "absent":
        (member,) = world.stable("a")
        if state == "Empty":
            world.leave(member)
    assert world.commit("", generation=-1).error == answer
    assert world.group.exists


def test_committed_positions_are_found_again():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a")
    world.commit(member, offsets={"t-0": 5, "t-1": 7})
    world.commit(member, offsets={"t-0": 6})
    assert world.fetch("t-0", "t-1", "t-2").response.offsets == {"t-0": 6, "t-1": 7}


# ------------------------------------------------------------------------ leaving and being removed


def test_41_a_batch_leave_is_one_rebalance():
    world = World(initial_rebalance_delay=0)
    leader, other, static, *_ = world.stable("a", "b", "i:s", "c")
    left = world.leave(other, ("", "s"), "nobody-1", ("", "unheard"))
    assert [(m.member_id, m.instance_id, m.error.name) for m in left.response.members] == [
        (other, None, "NONE"),
        ("", "s", "NONE"),
        ("nobody-1", None, "UNKNOWN_MEMBER_ID"),
        ("", "unheard", "UNKNOWN_MEMBER_ID"),
    ]
    assert static not in world.group.members and leader in world.group.members
    assert (
        len([note for note in world.told("GroupStateChanged") if note.get("trigger") == "left"])
        == 1
    )


@pytest.mark.parametrize(
    ("reason", "trigger"),
    [
        (None, "left"),
        ("the consumer is being closed", "left"),
        ("consumer poll timeout has expired.", "poll-expired"),
    ],
)
def test_a_leave_says_in_the_trace_why_the_client_left(reason, trigger):
    world = World(initial_rebalance_delay=0)
    _, other = world.stable("a", "b")
    world.ask(LeaveGroupRequest([LeavingMember(other, None, reason)]))
    note = world.told("GroupStateChanged")[-1]
    assert (note["trigger"], note["member_id"]) == (trigger, other) and (reason or "") in note[
        "reason"
    ]


def test_a_leave_of_nobody_known_rebalances_nothing():
    world = World(initial_rebalance_delay=0)
    world.stable("a")
    world.leave("nobody-1")
    assert world.state == "Stable"


def test_48_a_parked_sync_of_a_member_that_leaves_is_never_answered_but_its_parked_join_is():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    joined = world.join(other, offers="range:u")
    world.leave(other)
    assert joined.error == "UNKNOWN_MEMBER_ID"
    world.join(leader), world.settle()
    third = world.enter("c")
    world.join(leader)
    synced = world.sync(third.id)
    world.leave(third.id)
    world.at(500)
    assert synced.error is None


def test_a_session_that_expires_in_stable_rebalances():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.at(30).heartbeat(leader)
    world.at(45)
    assert (world.state, world.told("MemberRemoved")) == (
        "PreparingRebalance",
        [{"member_id": other, "why": "session-expired", "last_heard_us": 0}],
    )


def test_50_the_generation_grows_when_the_group_becomes_empty_too():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a")
    world.leave(member)
    assert (world.state, world.group.generation, world.group.protocol, world.group.leader_id) == (
        "Empty",
        2,
        None,
        None,
    )


# -------------------------------------------------------------------------------------------- syncs


def test_a_repeated_sync_is_answered_once():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.join(leader), world.join(other)
    first, second = world.sync(other), world.sync(other)
    world.sync(leader, {other: "x"})
    assert (first.error, second.error, second.response.assignment) == (None, "NONE", "x")


def test_a_member_the_leader_forgot_gets_nothing():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.join(leader), world.join(other)
    forgotten = world.sync(other)
    world.sync(leader, {leader: "all", "nobody-1": "lost"})
    assert (forgotten.error, forgotten.response.assignment) == ("NONE", None)


@pytest.mark.parametrize("leader_synced", [True, False])
def test_47_members_without_a_sync_are_removed_a_rebalance_timeout_after_the_barrier_static_ones_too(
    leader_synced,
):
    world = World(initial_rebalance_delay=0)
    leader, other, static = world.stable("a", "b", "i:s", rebalance=60, session=100)
    for member, instance in ((leader, None), (other, None), (static, "s")):
        world.join(member, instance=instance, rebalance=60, session=100)
    world.sync(leader if leader_synced else other)
    assert (world.state, world.timer("sync-g")) == (
        "Stable" if leader_synced else "CompletingRebalance",
        60,
    )
    world.at(60)
    assert sorted(world.group.members) == [leader if leader_synced else other]
    assert [note["why"] for note in world.told("MemberRemoved")] == ["not-synced", "not-synced"]


def test_the_sync_timer_ends_with_the_last_sync():
    world = World(initial_rebalance_delay=0)
    world.stable("a", "b")
    assert world.timer("sync-g") is None


def test_syncs_renew_no_session_but_the_answers_to_parked_ones_do():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.join(leader), world.join(other)
    world.at(10).sync(leader, {})
    assert (world.session(leader), world.session(other)) == (55, 45)
    world.at(12).sync(other)
    assert world.session(other) == 45


def test_a_rebalance_renews_the_sessions_of_those_whose_sync_it_refuses():
    world = World(initial_rebalance_delay=0)
    leader, other = world.stable("a", "b")
    world.join(leader), world.join(other)
    world.at(10).sync(other)
    world.at(20).enter("c")
    assert (world.session(leader), world.session(other)) == (45, 65)


# ----------------------------------------------------------------------------------- group.max.size


def test_49_the_size_is_checked_at_both_joins_and_does_not_count_pending_ids():
    world = World(initial_rebalance_delay=0, max_size=2)
    world.stable("a")
    first, second = world.join(client="b"), world.join(client="c")
    assert (first.error, second.error) == ("MEMBER_ID_REQUIRED",) * 2
    world.join("a-1"), world.join(first.id, client="b")
    refused = world.join(second.id, client="c")
    assert (refused.error, refused.id) == ("GROUP_MAX_SIZE_REACHED", "")
    assert second.id not in world.group.pending


def test_at_the_barrier_a_newcomer_takes_the_place_of_the_old_member_that_comes_last():
    world = World(initial_rebalance_delay=0, max_size=2)
    leader, late = world.stable("a", "b")
    rejoined = world.join(leader)
    newcomer = world.enter("c")
    refused = world.at(5).join(late)
    assert (refused.error, refused.id, late in world.group.members) == (
        "GROUP_MAX_SIZE_REACHED",
        "",
        False,
    )
    # everybody waits now, but nobody looks: only the timer ends it
    assert (rejoined.error, newcomer.error, world.group.all_joined()) == (None, None, True)
    world.at(290).heartbeat(leader)
    assert world.state == "PreparingRebalance"
    world.at(300)
    assert rejoined.answered_at == 300


def test_a_refusal_for_size_rebalances_nothing():
    world = World(initial_rebalance_delay=0, max_size=1)
    world.stable("a")
    assert world.join(client="b").error == "GROUP_MAX_SIZE_REACHED"
    assert world.state == "Stable"


def test_an_empty_instance_id_is_one_like_any_other_but_no_id_names_nobody():
    world = World(initial_rebalance_delay=0)
    world.join(instance="")
    nobody = world.leave(("", None))
    assert [left.error.name for left in nobody.response.members] == ["UNKNOWN_MEMBER_ID"] and len(
        world.group.members
    ) == 1
    assert [left.error.name for left in world.leave(("", "")).response.members] == ["NONE"]


def test_a_negative_rebalance_timeout_is_none_at_all():
    world = World(initial_rebalance_delay=0)
    world.enter("a", rebalance=-5)
    assert world.group.rebalance_timeout_us() == 0
