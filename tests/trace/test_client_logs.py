"""Logs of Java consumers from 2.4 to 4.3, and of brokers: each line's event, whole logs against
recordings, and hostile lines.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition
from rebalsim.trace import broker_lines, client_lines
from rebalsim.trace import events as ev
from rebalsim.trace.client_logs import join_logs, read_logs
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.log_lines import take_apart
from rebalsim.trace.recording import read_recording
from rebalsim.trace.trace import Trace

REALITY = Path(__file__).parents[1] / "reality"
WITH_LOGS = sorted(p.name for p in (REALITY / "logs").iterdir() if p.is_dir())
AT = 1_763_480_407_559_000
T0, T1 = Partition("t", 0), Partition("t", 1)


def client(text: str) -> object:
    return client_lines.event_of(
        f"2025-11-18 15:40:07,559 [main] INFO o.a.k.X - [Consumer clientId=c0, groupId=g] {text}"
    )


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("(Re-)joining group", ev.RequestSent(AT, "c0", "JoinGroup", -1)),
        (
            "Request joining group due to: cached metadata has changed from (a) to (b)",
            ev.RejoinRequested(AT, "c0", "cached metadata has changed from (a) to (b)"),
        ),
        (
            "Request joining group due to: group is already rebalancing",
            ev.RebalanceNoticed(AT, "c0", "heartbeat"),
        ),
        (
            "Attempt to heartbeat failed since group is rebalancing",
            ev.RebalanceNoticed(AT, "c0", "heartbeat"),
        ),
        (
            "Successfully joined group with generation Generation{generationId=5, "
            "memberId='c0-x', protocol='range'}",
            ev.GenerationJoined(AT, "c0", 5, "c0-x", "range"),
        ),
        (
            "Successfully joined group with generation 5",
            ev.GenerationJoined(AT, "c0", 5, "", ""),
        ),  # ≤ 2.6
        (
            "Successfully synced group in generation Generation{generationId=5, memberId='c0-x', "
            "protocol='range'}",
            ev.AssignmentReceived(AT, "c0", 5, ()),
        ),
        (
            "SyncGroup failed: The group began another rebalance. Need to re-join the group. "
            "Sent generation was G",
            ev.RebalanceNoticed(AT, "c0", "sync"),
        ),
        (
            "Revoke previously assigned partitions t-0, t-1",
            ev.CallbackBegan(AT, "c0", "revoked", (T0, T1)),
        ),
        (
            "Revoke previously assigned partitions [t-1, t-0]",
            ev.CallbackBegan(AT, "c0", "revoked", (T0, T1)),
        ),
        ("Revoke previously assigned partitions ", ev.CallbackBegan(AT, "c0", "revoked", ())),
        ("Lost previously assigned partitions [t-0]", ev.CallbackBegan(AT, "c0", "lost", (T0,))),
        ("Adding newly assigned partitions: ", ev.CallbackBegan(AT, "c0", "assigned", ())),
        (
            "Adding newly assigned partitions: [a.b-c-12]",
            ev.CallbackBegan(AT, "c0", "assigned", (Partition("a.b-c", 12),)),
        ),
        (
            "Setting newly assigned partitions: t-0",
            ev.CallbackBegan(AT, "c0", "assigned", (T0,)),
        ),  # 2.3
        (
            "Setting offset for partition t-0 to the committed offset FetchPosition{offset=42, "
            "offsetEpoch=Optional[0]}",
            ev.PositionFound(AT, "c0", T0, 42, "committed"),
        ),
        (
            "Resetting offset for partition t-0 to position FetchPosition{offset=0, "
            "offsetEpoch=x}.",
            ev.PositionFound(AT, "c0", T0, 0, "earliest"),
        ),
        (
            "Resetting offset for partition t-0 to offset 17.",
            ev.PositionFound(AT, "c0", T0, 17, "latest"),
        ),
        (
            "consumer poll timeout has expired. This means the time between subsequent calls to "
            "poll() was longer",
            ev.PollExpired(AT, "c0"),
        ),
        ("Consumer poll timeout has expired. This means", ev.PollExpired(AT, "c0")),
        (
            "This member will leave the group because consumer poll timeout has expired. This",
            ev.PollExpired(AT, "c0"),
        ),
        (
            "Member c0-x sending LeaveGroup request to coordinator h:1 (id: 2147483646 rack: "
            "null) due to the consumer is being closed",
            ev.LeaveSent(AT, "c0", "the consumer is being closed"),
        ),
        (
            "Resetting generation and member id due to: consumer pro-actively leaving the group",
            ev.MemberReset(AT, "c0", "consumer pro-actively leaving the group"),
        ),
        (
            "Resetting generation due to: encountered ILLEGAL_GENERATION from Heartbeat response",
            ev.MemberReset(AT, "c0", "encountered ILLEGAL_GENERATION from Heartbeat response"),
        ),
        (
            "Attempt to heartbeat with Generation{generationId=1, memberId='x', "
            "protocol='range'} and group instance id Optional.empty failed due to "
            "UNKNOWN_MEMBER_ID, resetting generation",
            ev.Fenced(AT, "c0", "Heartbeat", "UNKNOWN_MEMBER_ID"),
        ),
        (
            "Discovered group coordinator 127.0.0.1:19092 (id: 2147483646 rack: null isFenced: "
            "false)",
            ev.CoordinatorFound(AT, "c0", 1),
        ),
        (
            "Discovered group coordinator Coordinator(key='g', nodeId=3, host='h', port=1, "
            "errorCode=0, errorMessage='')",
            ev.CoordinatorFound(AT, "c0", 3),
        ),
        (
            "Group coordinator h:1 (id: 2 rack: null) is unavailable or invalid due to cause: "
            "session timed out. isDisconnected: false. Rediscovery will "
            "be attempted.",
            ev.CoordinatorLost(AT, "c0", "session timed out"),
        ),
        (
            "Member Ab-_x with epoch 3 transitioned from STABLE to RECONCILING.",
            ev.MemberStateChanged(AT, "", "c0", "STABLE", "RECONCILING", 3, "client"),
        ),
        (
            "ConsumerGroupHeartbeatRequest failed because member x is unknown. in 3ms: m",
            ev.Fenced(AT, "c0", "ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID"),
        ),
        ("Subscribed to topic(s): t", ev.ConsumerStarted(AT, "c0", 1)),
        ("Found no committed offset for partition t-0", None),
        ("Notifying assignor about the new Assignment(partitions=[t-0])", None),
        ("Successfully joined group with generation elsewhere", None),
    ],
)
def test_one_line_of_a_client(text: str, event: object) -> None:
    assert client(text) == event


M = "c1-576da3a1-e5fd-420c-9a03-505dabad078c"


def broker(
    text: str, prefix: str = "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
) -> object:
    return broker_lines.event_of(
        f"[2025-11-18 15:40:07,559] INFO {prefix}{text} "
        "(org.apache.kafka.coordinator.group.GroupMetadataManager)"
    )


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 1 "
            f"(reason: Adding new member {M} with group instance id null; "
            "client reason: need to re-join with the given member-id: x).",
            ("PreparingRebalance", 1, "joined", "c1"),
        ),
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 1 "
            f"(reason: removing member {M} on heartbeat expiration.).",
            ("PreparingRebalance", 1, "session-expired", "c1"),
        ),
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 2 "
            f"(__consumer_offsets-0) (reason: Removing member {M} on LeaveGroup; "
            "client reason: x)",
            ("PreparingRebalance", 2, "left", "c1"),
        ),
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 2 "
            f"(reason: Leader {M} re-joining group during Stable; "
            "client reason: need to revoke partitions).",
            ("PreparingRebalance", 2, "leader-rejoined", "c1"),
        ),
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 2 "
            f"(reason: explicit `LeaveGroup` request for ({M}) members.).",
            ("PreparingRebalance", 2, "left", "c1"),
        ),
        ("Group g with generation 4 is now empty.", ("Empty", 4, "", "")),
    ],
)
def test_one_line_of_a_coordinator_about_the_state(text: str, event: tuple[object, ...]) -> None:
    for prefix in (
        "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] ",
        "[GroupCoordinator 1]: ",
    ):
        found = broker(text, prefix)
        assert isinstance(found, ev.GroupStateChanged)
        assert (found.after, found.generation, found.trigger, found.consumer) == event


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (
            f"Assignment received from leader {M} for group g for generation 5. The group has 3 "
            "members, 0 of which are static.",
            ev.AssignmentStored(AT, "g", 5),
        ),
        (
            "Assignment received from leader for group g for generation 5",
            ev.AssignmentStored(AT, "g", 5),
        ),  # 2.3
        (
            f"Member {M} in group g has failed, removing it from the group.",
            ev.MemberRemoved(AT, "g", "c1", M, "session-expired"),
        ),
        (
            f"[Group g] Member {M} has left group through explicit `LeaveGroup` request; client "
            "reason: x",
            ev.MemberRemoved(AT, "g", "c1", M, "left"),
        ),
        (
            f"Member[group.instance.id None, member.id {M}] in group g has left, removing it "
            "from the group",
            ev.MemberRemoved(AT, "g", "c1", M, "left"),
        ),
        (
            f"Group g removed dynamic members who haven't joined: [{M}]",
            ev.MemberRemoved(AT, "g", "c1", M, "not-rejoined"),
        ),
        (
            "Dynamic member with unknown member id joins group g in Empty state. Created a new "
            f"member id {M} and requesting the member to rejoin with this id.",
            ev.MemberAdded(AT, "g", "c1", M, "pending"),
        ),
        (
            f"Pending dynamic member with id {M} joins group g in Stable state. Adding to the "
            "group now.",
            ev.MemberAdded(AT, "g", "c1", M, "new"),
        ),
        (
            "[GroupId g] Member abc joins the consumer group using the consumer protocol.",
            ev.MemberAdded(AT, "g", "abc", "abc", "new"),
        ),
        (
            "[GroupId g] Bumped group epoch to 5 with metadata hash 12.",
            ev.EpochBumped(AT, "g", 5, ""),
        ),
        (
            "[GroupId g] Computed a new target assignment for epoch 5 with 'uniform' assignor in "
            "0ms.",
            ev.AssignmentComputed(AT, "", "g", 5, "uniform"),
        ),
        (
            "[GroupId g] Member abc fenced from the group because the member session expired.",
            ev.MemberRemoved(AT, "g", "abc", "abc", "session-expired"),
        ),
        (
            "[GroupId g] Member abc left the consumer group.",
            ev.MemberRemoved(AT, "g", "abc", "abc", "left"),
        ),
        ("Something else entirely", None),
    ],
)
def test_one_line_of_a_coordinator(text: str, event: object) -> None:
    assert broker(text) == event


@pytest.mark.parametrize(
    "text",
    [
        "Stabilized group g generation 5 with 3 members.",
        "Stabilized group g generation 5 (__consumer_offsets-7) with 3 members",
    ],
)
def test_52_stabilized_in_the_log_is_the_end_of_the_barrier_and_not_stable(text: str) -> None:
    assert broker(text) == ev.BarrierCompleted(AT, "g", 5, 3, "")


@pytest.mark.parametrize(
    "line",
    [
        "2025-11-18 15:40:07,559 [main] INFO org.apache.kafka.X - [Consumer clientId=c0, "
        "groupId=g] (Re-)joining group",
        "[2025-11-18 15:40:07,559] INFO [Consumer clientId=c0, groupId=g] (Re-)joining group "
        "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        "2025-11-18T17:40:07.559+02:00  INFO 1 --- [main] "
        "o.a.k.c.c.internals.ConsumerCoordinator  : [Consumer clientId=c0, groupId=g] "
        "(Re-)joining group",
        '{"@timestamp":"2025-11-18T15:40:07.559Z","level":"INFO","thread_name":"main","message":"[Consumer '
        'clientId=c0, groupId=g] (Re-)joining group"}',
        "2025-11-18 15:40:07.559 INFO [Consumer instanceId=i-1, clientId=c0, groupId=g] "
        "(Re-)joining group",
    ],
)
def test_layouts_differ_kafkas_own_words_do_not(line: str) -> None:
    found = take_apart(line)
    assert found is not None
    assert (found.at_us, found.client, found.group, found.text) == (
        AT,
        "c0",
        "g",
        "(Re-)joining group",
    )


def logs_of(name: str) -> list[Path]:
    return [*sorted((REALITY / "logs" / name).iterdir()), REALITY / "logs" / "broker.log.gz"]


def callbacks(trace: Trace) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for e in trace.events:
        if type(e) is ev.CallbackBegan and e.partitions:
            found.setdefault(e.consumer, []).append(
                (e.callback, tuple(sorted(str(p).rpartition(".")[2] for p in e.partitions)))
            )
    return found


@pytest.mark.parametrize("name", WITH_LOGS)
def test_logs_tell_the_same_callbacks_as_the_recording(name: str) -> None:
    recorded = read_recording(REALITY / "traces" / f"{name}.json.gz")
    for files in (logs_of(name), logs_of(name)[:-1]):  # with and without the broker's
        told = read_logs(files)
        assert callbacks(told) == callbacks(recorded)
        analysis = analyse(told)
        assert analysis.violations == []
        assert all(
            sum(p.length_us for p in pause.phases) == pause.length_us for pause in analysis.pauses
        )
        expected = [r.generation for r in analyse(recorded).rebalances]
        assert [r.generation for r in analysis.rebalances][: len(expected)] == expected


def test_what_members_alone_show_of_a_rebalance_is_what_the_broker_said() -> None:
    """The rounds that the analysis puts together from members' logs begin within a tick of when
    the coordinator says they did.
    """
    for name in ("scale-out-coop", "storm-coop"):
        told = analyse(read_logs(logs_of(name)))
        alone = analyse(read_recording(REALITY / "traces" / f"{name}.json.gz"))
        shift = told.rebalances[0].barrier_us - alone.rebalances[0].barrier_us
        for one, other in zip(alone.rebalances, told.rebalances):
            assert one.generation == other.generation
            assert abs(other.prepared_us - shift - one.prepared_us) <= 60_000, (one, other)
            assert abs(other.barrier_us - shift - one.barrier_us) <= 20_000
            follow_up = {
                "leader-rejoined",
                "metadata-changed",
                "rejoined",
            }  # which of them depends on who leads; members do not know
            if other.trigger != "sync-expired":  # which no member can see
                assert one.trigger == other.trigger or {one.trigger, other.trigger} <= follow_up
                assert one.trigger_consumer == other.trigger_consumer


def test_one_group_of_many() -> None:
    files = [*logs_of("scale-out-coop")[:-1], *logs_of("crash-sticky")]
    groups = {c.group for c in read_logs(files).header.consumers.values()}
    assert len(groups) == 2
    one = min(groups)
    assert {c.group for c in read_logs(files, one).header.consumers.values()} == {one}


def test_nothing_of_kafkas_is_said_so() -> None:
    with pytest.raises(InputError, match=r"app\.log: no line is a Kafka consumer's"):
        join_logs([("app.log", ["2025-01-01 00:00:00,000 INFO hello\n", "\n"])])


@pytest.mark.parametrize("seed", range(60))
def test_hostile_logs_do_not_crash(seed: int) -> None:
    stream = random.Random(seed)
    name = WITH_LOGS[seed % len(WITH_LOGS)]
    lines = [line for path in logs_of(name) for line in text_of(path).splitlines(keepends=True)]
    for _ in range(60):
        place = stream.randrange(len(lines))
        line = lines[place]
        cut = stream.randrange(len(line) + 1)
        lines[place] = stream.choice(
            (
                line[:cut],
                line[cut:],
                line[:cut] + "\x00\u2028" + line[cut:],
                line.replace("generationId=", "generationId=-"),
                line * 3,
                line.replace("2026", "9999"),
                line.replace("t-", "t-99999999"),
                "[Consumer clientId=" * 50 + "\n",
                "\t" * 1_000 + "\n",
                line.replace(", ", "]"),
            )
        )
    stream.shuffle(lines)
    try:
        told = join_logs([("a.log", lines[::2]), ("b.log", lines[1::2])])
    except InputError:
        return
    assert [e.at_us for e in told.events] == sorted(e.at_us for e in told.events)
    for pause in analyse(told).pauses:
        assert sum(p.length_us for p in pause.phases) == pause.length_us


def test_a_line_of_a_megabyte_takes_no_time() -> None:
    prefix = "2025-11-18 15:40:07,559 [main] INFO o.a.k.X - [Consumer clientId=c0, groupId=g] "
    for text in (
        "Member " + "a " * 40_000,
        "Asynchronous auto-commit of offsets " + "{" * 90_000,
        "Revoke previously assigned partitions " + "a-" * 45_000,
        "Group coordinator " + "is " * 30_000,
        "Attempt to heartbeat with " + "failed due to " * 6_000,
    ):
        client_lines.event_of(prefix + text)
        client_lines.event_of(prefix + text * 20)
        broker_lines.event_of("[2025-11-18 15:40:07,559] INFO [GroupCoordinator 1]: " + text)
