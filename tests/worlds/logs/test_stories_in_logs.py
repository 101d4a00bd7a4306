"""Small stories told in lines: who began it, who was late, whose clock is off, what stood still."""

from __future__ import annotations

import pytest
from reading_logs import observed

from rebalsim.domain.errors import InputError
from rebalsim.worlds.logs.observation import Observation, observe

U = "576da3a1-e5fd-420c-9a03-505dabad078"


def at(ms: int, zone: int = 0) -> str:
    """A stamp so many ms after 10:00, by a clock so many hours from UTC."""
    seconds, rest = divmod(ms, 1_000)
    minutes, seconds = divmod(seconds, 60)
    return f"[2026-01-05 {10 + zone:02d}:{minutes:02d}:{seconds:02d},{rest:03d}]"


def broker(ms: int, text: str) -> str:
    return (
        f"{at(ms)} INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] {text} (x.Y)"
    )


def client(ms: int, text: str, zone: int = 0) -> str:
    return f"{at(ms, zone)} INFO [Consumer clientId=consumer-g-1, groupId=g] {text} (x.Y)"


def joined(ms: int, generation: int, who: int, zone: int = 0) -> str:
    told = f"Generation{{generationId={generation}, memberId='consumer-g-1-{U}{who}', protocol='range'}}"
    return client(ms, f"Successfully joined group with generation {told}", zone)


def test_consumers_of_one_process_share_its_clock_once() -> None:
    """Both consumers of a pod an hour from UTC die unseen: from the middle between the pod's last
    sign of life and the end of their sessions on nothing was delivered.
    """
    pod, told = [], []
    for who in (1, 2):
        name = f"consumer-g-{who}"
        prefix = f"[Consumer clientId={name}, groupId=g]"
        member = f"{name}-{U}{who}"
        generation = f"Generation{{generationId=1, memberId='{member}', protocol='range'}}"
        pod += [
            f"{at(1_000, 1)} INFO {prefix} (Re-)joining group",
            f"{at(4_000, 1)} INFO {prefix} Successfully joined group with generation {generation}",
            f"{at(4_010, 1)} INFO {prefix} Adding newly assigned partitions: [t-{who}]",
        ]
        told.append(broker(60_000, f"Member {member} in group g has failed, removing it"))
    pod.append(f"{at(20_000, 1)} INFO still at work (com.acme.Shop)")
    start = "Preparing to rebalance group g in state PreparingRebalance with old generation 0"
    member = f"consumer-g-1-{U}1"
    logs = [
        broker(1_001, f"{start} (reason: Adding new member {member} with group instance id null)."),
        broker(4_000, "Stabilized group g generation 1 with 2 members."),
        broker(4_005, f"Assignment received from leader {member} for group g for generation 1."),
        *told,
    ]
    found = observed(pod=pod, broker=logs)
    starts = [p.start_us // 1_000 % 3_600_000 for p in found.groups["g"].pauses]
    assert starts == [40_000, 40_000]


def a_member_joins(ahead_ms: int = 0, zone: int = 0) -> Observation:
    """c1 has both partitions; c2 joins, and c1 hears of it 2 s later. c2's clock is off."""
    c1 = [
        client(1_000, "(Re-)joining group"),
        joined(1_010, 1, 1),
        client(1_030, "Adding newly assigned partitions: [t-0, t-1]"),
        client(62_000, "Request joining group due to: group is already rebalancing"),
        client(62_005, "Revoke previously assigned partitions [t-0, t-1]"),
        client(62_006, "(Re-)joining group"),
        joined(62_012, 2, 1),
        client(62_031, "Adding newly assigned partitions: [t-0]"),
    ]
    off = ahead_ms
    c2 = [
        client(59_990 + off, "(Re-)joining group", zone),
        client(
            59_996 + off,
            "Request joining group due to: need to re-join with the given member-id: "
            f"consumer-g-1-{U}2",
            zone,
        ),
        client(59_998 + off, "(Re-)joining group", zone),
        joined(62_011 + off, 2, 2, zone),
        client(62_030 + off, "Adding newly assigned partitions: [t-1]", zone),
    ]
    coordinator = [
        broker(
            1_001,
            "Preparing to rebalance group g in state PreparingRebalance with old generation "
            f"0 (reason: Adding new member consumer-g-1-{U}1 with group instance id null; client "
            "reason: not provided).",
        ),
        broker(1_008, "Stabilized group g generation 1 with 1 members."),
        broker(
            59_994,
            "Dynamic member with unknown member id joins group g in Stable state. Created a "
            f"new member id consumer-g-1-{U}2 and requesting the member to rejoin with this id.",
        ),
        broker(
            60_000,
            "Preparing to rebalance group g in state PreparingRebalance with old generation "
            f"1 (reason: Adding new member consumer-g-1-{U}2 with group instance id null; client "
            "reason: not provided).",
        ),
        broker(62_009, "Stabilized group g generation 2 with 2 members."),
        broker(
            62_020,
            f"Assignment received from leader consumer-g-1-{U}1 for group g for generation "
            "2. The group has 2 members, 0 of which are static.",
        ),
    ]
    return observed(broker=coordinator, c1=c1, c2=c2)


def test_who_began_it_who_was_late_and_what_stood_still() -> None:
    story = a_member_joins().groups["g"]
    second = story.rounds[1]
    assert (second.trigger.kind, second.trigger.member) == ("join", f"consumer-g-1-{U}2")
    assert second.late_member == f"consumer-g-1-{U}1"
    assert {p.partition for p in story.pauses} == {"t-0", "t-1"}
    assert all(24_000 <= p.end_us - p.start_us <= 26_000 for p in story.pauses)
    assert {p.kind for p in story.pauses} == {"join"}


@pytest.mark.parametrize("ahead_ms", [0, 900, -2_300, 61_000])
@pytest.mark.parametrize("zone", [0, 3, -6])
def test_clocks_and_zones_are_found_by_who_answered_whom(ahead_ms: int, zone: int) -> None:
    found = a_member_joins(ahead_ms, zone)
    clock = found.clocks["c2.log"]
    assert abs((clock.ahead_us - clock.zone_us) / 1_000 - ahead_ms) <= 10
    assert clock.zone_us == zone * 3_600_000_000
    second = found.groups["g"].voices[1].facts[-1]
    first = found.groups["g"].voices[0].facts[-1]
    assert abs(second.at_us - first.at_us) <= 10_000


def test_a_zone_can_be_told() -> None:
    from reading_logs import source

    lines = [client(1_000, "(Re-)joining group"), joined(1_010, 1, 1)]
    plain = observe([source("c.log", lines)])
    told = observe([source("c.log", lines)], zone="+01:00")
    first, second = (o.groups["g"].voices[0].facts[0].at_us for o in (plain, told))
    assert first - second == 3_600_000_000
    assert "have no zone" in plain.notes[0]
    with pytest.raises(InputError, match="is no zone"):
        observe([source("c.log", lines)], zone="Nowhere/Land")


def test_a_life_that_tells_no_id_is_that_of_the_id_given_out_as_it_asked() -> None:
    """sarama prints its id when a session ends; a killed one's never does."""
    start = "Preparing to rebalance group g in state PreparingRebalance with old generation 0"
    member = f"sarama-{U}1"
    logs = [
        broker(1_003, f"{start} (reason: Adding new member {member} with group instance id null)."),
        broker(1_003, f"Pending dynamic member with id {member} joins group g in Empty state."),
        broker(4_000, "Stabilized group g generation 1 with 1 members."),
        broker(4_005, f"Assignment received from leader {member} for group g for generation 1."),
        broker(60_000, f"Member {member} in group g has failed, removing it from the group."),
    ]
    pod = [
        "[sarama] 2026/01/05 10:00:01.000000 Initializing new client",
        "[sarama] 2026/01/05 10:00:01.001000 client/coordinator coordinator for g is #1 (b:9092)",
        "[sarama] 2026/01/05 10:00:04.010000 consumer/broker/1 added subscription to t/0",
    ]
    found = observed(pod=pod, broker=logs)
    (voice,) = found.groups["g"].voices
    assert voice.ids == (member,)
    (pause,) = found.groups["g"].pauses
    assert (pause.how, pause.member) == ("killed", member)


def _of_groups(count: int) -> int:
    """The facts of all consumers of so many groups in one file with a silence after each line."""
    lines = []
    for n in range(count * 3):
        where = f"[Consumer clientId=c-{n % count}, groupId=g-{n % count}]"
        lines += [
            f"{at(n * 9_000)} INFO {where} (Re-)joining group",
            f"{at(n * 9_000 + 500)} INFO busy",
        ]
    stories = observed(app=lines).groups.values()
    return sum(len(voice.facts) for story in stories for voice in story.voices)


def test_a_sign_of_life_in_a_file_of_many_processes_is_nobodys() -> None:
    assert _of_groups(2) > 2 * 3  # of a process with two consumers it is that of both …
    assert _of_groups(60) <= 60 * 3  # … and here would be kept for each of sixty
