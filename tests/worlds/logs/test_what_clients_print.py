"""What frameworks and clients other than Kafka's own print: a line each, and what it proves.

A line that proves nothing by itself is known all the same: none is counted as not recognised.
"""

from __future__ import annotations

import json

import pytest

from rebalsim.worlds.logs.facts import Fact
from rebalsim.worlds.logs.streams import Census, Reader, Stream

U = "576da3a1-e5fd-420c-9a03-505dabad0781"
M = f"c1-{U}"
LOG4J = "[2025-11-18 15:40:07,559] INFO "
THREAD = f"stream-thread [app-{U}-StreamThread-1] "
UPDATER = f"state-updater [app-{U}-StateUpdater-1] "
LEADER = f"stream-thread [app-{U}-StreamThread-1-consumer] "
CONSUMER = f"app-{U}-StreamThread-1-consumer"
WORKER = "[Worker clientId=connect-h:1, groupId=g] "
SPRING = "2025-11-18T15:40:07.559Z  INFO 1 --- [ orders-0-C-1] o.s.k.l.MessageListenerContainer : "
FRANZ = "2025-11-18T15:40:07.559Z [INFO] "
SARAMA = "[sarama] 2025/11/18 15:40:07 "
PYTHON = "2025-11-18 15:40:07,559 INFO kafka.coordinator: "
AIO = "2025-11-18 15:40:07,559 INFO:aiokafka.consumer.group_coordinator:"
SETS = "{TopicPartition(topic='t', partition=1), TopicPartition(topic='t', partition=0)}"
BOTH = ("t-0", "t-1")
Proved = list[dict[str, object]]


def nothing(*lines: str) -> list[tuple[str, Proved]]:
    return [(line, []) for line in lines]


def read(speaks: str, line: str) -> tuple[list[Fact], Census]:
    """What the line proves behind one by which its dialect is known."""
    streams: dict[str, Stream] = {}
    census = Census()
    Reader("app.log", "app.log", streams, census).read([speaks, line])
    before: dict[str, Stream] = {}
    Reader("app.log", "app.log", before, Census()).read([speaks])
    told, former = (
        [f for s in found.values() for _, f in s.told if f.what != "spoke"]
        for found in (streams, before)
    )
    return told[len(former) :], census


def check(speaks: str, line: str, proved: Proved) -> None:
    facts, census = read(speaks, line)
    told = [{k: getattr(f, k) for k in e} for f, e in zip(facts, proved, strict=True)]
    assert told == proved
    assert dict(census.unknown) == {}


STREAMS: list[tuple[str, Proved]] = [
    (
        f"stream-client [app-{U}] State transition from RUNNING to REBALANCING",
        [{"what": "streams-state", "why": "RUNNING>REBALANCING", "client": ""}],
    ),
    (
        THREAD + "State transition from RUNNING to PARTITIONS_ASSIGNED",
        [{"what": "streams-state", "why": "RUNNING>PARTITIONS_ASSIGNED", "client": CONSUMER}],
    ),
    (THREAD + "partition revocation took 41 ms.", [{"what": "callback-took", "amount": 41}]),
    (THREAD + "partitions lost took 7 ms.", [{"what": "callback-took", "amount": 7}]),
    *(
        (THREAD + f"task [0_1] {words}", [{"what": "task", "why": why, "other": "0_1"}])
        for words, why in (
            ("Initialized", "initialized"),
            ("Restored and ready to run", "running"),
            ("Suspended from RUNNING", "suspended"),
            ("Closed clean", "closed"),
        )
    ),
    *(
        (
            whose + "Finished restoring changelog app-s-changelog-1 to store s with a total number "
            "of 5 records",
            [{"what": "changelog", "amount": 5, "client": CONSUMER}],
        )
        for whose in (THREAD, UPDATER)
    ),
    (
        THREAD + "Restoration took 120 ms for all active tasks [0_1]",
        [{"what": "restored", "amount": 120, "client": CONSUMER}],
    ),
    (
        THREAD + "Detected that the thread is being fenced. This implies that this thread missed a "
        "rebalance and dropped out of the consumer group.",
        [{"what": "thrown-out", "client": CONSUMER}],
    ),
    *nothing(
        THREAD + "Handle new assignment with:",
        THREAD + "at state RUNNING: partitions [t-0, t-1] lost due to missed rebalance.",
        LEADER + "2 client nodes and 4 consumers participating in this rebalance:",
        LEADER + f"Assignment of tasks to nodes: {U}=[activeTasks: ([0_0]) standbyTasks: ([])]",
        LEADER + f"Client {U} per-consumer assignment:",
        LEADER
        + f"Removing task 0_1 from {CONSUMER}-{U} active assignment until it is safely revoked "
        "in followup rebalance",
        LEADER + f"Requesting followup rebalance be scheduled immediately by {CONSUMER}-{U} due to "
        "tasks changing ownership.",
        LEADER + f"Requesting followup rebalance be scheduled by {CONSUMER}-{U} for 2026-01-01 "
        "10:00:00,000 Z to probe for caught-up replica tasks.",
        LEADER + "Finished unstable assignment of tasks, a followup rebalance will be scheduled.",
        LEADER + "Assigned 4 total tasks including 2 stateful tasks to 2 client nodes.",
    ),
]


@pytest.mark.parametrize(("message", "proved"), STREAMS)
def test_kafka_streams(message: str, proved: Proved) -> None:
    speaks = LOG4J + f"stream-client [app-{U}] State transition from CREATED to REBALANCING (x.Y)"
    check(speaks, LOG4J + message + " (org.apache.kafka.streams.X)", proved)


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        ("Rebalance started", [{"what": "asking", "client": "connect-h:1", "group": "g"}]),
        (
            "Joined group at generation 4 with protocol version 2 and got assignment: "
            f"Assignment{{error=0, leader='{M}', leaderUrl='http://h/', offset=3, connectorIds=[db], "
            "taskIds=[db-0], revokedConnectorIds=[], revokedTaskIds=[db-1], delay=0} with rebalance "
            "delay: 0",
            [
                {"what": "revoked", "generation": 4, "partitions": ("db-1",)},
                {"what": "assigned", "generation": 4, "partitions": ("db", "db-0")},
            ],
        ),
        (
            "worker poll timeout has expired. This means the time between subsequent calls to poll() "
            "in DistributedHerder tick() method was longer than the configured rebalance.timeout.ms. "
            "The last known action being performed by the worker is : starting 3 connectors",
            [{"what": "poll-expired", "why": "starting 3 connectors"}],
        ),
    ],
)
def test_kafka_connect(message: str, proved: Proved) -> None:
    check("", LOG4J + WORKER + message + " (org.apache.kafka.connect.WorkerCoordinator)", proved)


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        *(
            (
                f"g: partitions {what}: [t-0, t-1]",
                [{"what": what, "group": "g", "partitions": BOTH, "thread": "orders-0-C-1"}],
            )
            for what in ("assigned", "revoked", "lost")
        ),
        ("g: Consumer stopped", [{"what": "closed", "group": "g", "thread": "orders-0-C-1"}]),
        (
            "Stopping container due to fencing",
            [{"what": "thrown-out", "why": "FENCED_INSTANCE_ID", "thread": "orders-0-C-1"}],
        ),
        (
            "Fatal consumer exception; stopping container",
            [{"what": "thrown-out", "thread": "orders-0-C-1"}],
        ),
    ],
)
def test_springs_containers(message: str, proved: Proved) -> None:
    check(SPRING + "g: partitions assigned: []", SPRING + message, proved)


LIBRDKAFKA: list[tuple[str, str, Proved]] = [
    ("CGRPSTATE", 'Group "g" changed state wait-coord -> up (join-state init)', []),
    (
        "CGRPJOINSTATE",
        'Group "g" changed join state wait-sync -> wait-assign-call (state up)',
        [{"what": "rd-state", "group": "g", "why": "wait-sync>wait-assign-call"}],
    ),
    (
        "JOINGROUP",
        f"JoinGroup response: GenerationId 5, Protocol range, LeaderId {M} (me), my MemberId {M}, "
        "member metadata count 3: (no error)",
        [{"what": "joined", "generation": 5, "member": M, "why": "range"}],
    ),
    (
        "HEARTBEAT",
        'Group "g" heartbeat error response in state up (join-state steady, 2 partition(s) assigned): '
        "Broker: Group rebalance in progress",
        [{"what": "heard", "group": "g"}],
    ),
    (
        "REBALANCE",
        'Group "g" is rebalancing (EAGER) in state up (join-state steady) with 2 assigned '
        "partition(s): rebalance in progress",
        [],
    ),
    (
        "REJOIN",
        'Group "g": Rejoining group without an assignment: Metadata for subscribed topic(s) has changed',
        [{"what": "rejoining", "why": "Metadata for subscribed topic(s) has changed"}],
    ),
    (
        "REJOIN",
        'Group "g": Rejoining group with 2 owned partition(s): Incremental unassignment done',
        [{"what": "rejoining", "why": "Incremental unassignment done"}],
    ),
    ("REJOIN", 'Group "g": Rejoining group with 2 owned partition(s): Group is rebalancing', []),
    (
        "ASSIGN",
        'Group "g": delegating incremental assign of 2 partition(s) to application on queue q: new',
        [{"what": "rd-delegated", "why": "incremental assign", "amount": 2}],
    ),
    ("GRPASSIGNMENT", "List with 2 partition(s):", [{"what": "rd-list"}]),
    ("GRPASSIGNMENT", " t [0] offset INVALID", [{"what": "listed", "partitions": ("t-0",)}]),
    ("REMOVE", "Removing t [0] from assignment (started=true, pending=false)", []),
    ("PARTDEL", 'Group "g": delete t [0]', []),
    ("SRVPEND", "Querying committed offset for pending assigned partition t [0]", []),
    (
        "SRVPEND",
        "Starting pending assigned partition t [0] at offset 5 (leader epoch 0)",
        [{"what": "positioned", "partitions": ("t-0",)}],
    ),
    ("PARTADD", 'Group "g": add t [0]', []),
    ("ASSIGNMENT", 'Group "g": setting group assignment to 2 partition(s)', []),
    ("COOPASSIGN", 'Group "g": incremental assignment: 1 newly added, 0 revoked partitions', []),
    (
        "LOST",
        'Group "g": current assignment of 2 partition(s) lost: max.poll.interval.ms exceeded',
        [{"what": "rd-lost", "group": "g"}],
    ),
    (
        "MAXPOLL",
        "Application maximum poll interval (12000ms) exceeded by 164ms (adjust max.poll.interval.ms "
        "for long-running message processing): leaving group",
        [{"what": "poll-expired", "amount": 12_164}],
    ),
    (
        "SESSTMOUT",
        "Consumer group session timed out (in join-state steady) after 10012 ms without a successful "
        "response from the group coordinator (broker 1, last error was Success): revoking assignment",
        [{"what": "thrown-out", "why": "session timed out"}],
    ),
    ("LEAVE", 'Group "g": leave (in state up)', [{"what": "leaving", "group": "g"}]),
    ("CLOSE", "Closing consumer", []),
    ("CGRPTERM", 'Group "g": waiting for 2 toppar(s) before terminating', []),
    (
        "HEARTBEAT",
        f'ConsumerGroupHeartbeat response received for member id "{M}" with epoch 5',
        [{"what": "epoch", "member": M, "generation": 5}],
    ),
    ("HEARTBEAT", 'ConsumerGroupHeartbeat response received target assignment "t(x)[0]"', []),
    ("HEARTBEAT", 'Target assignment acked, new current assignment "t(x)[0]"', []),
    ("HEARTBEAT", 'GroupCoordinator/1: Heartbeat for group "g" generation id 5', []),
    ("MEMBERID", f'Group "g": updating member id "" -> "{M}"', [{"what": "named", "member": M}]),
]


@pytest.mark.parametrize(("facility", "message", "proved"), LIBRDKAFKA)
def test_librdkafka(facility: str, message: str, proved: Proved) -> None:
    named = [{**fact, "client": "c"} for fact in proved]
    check("", f"%7|1763480407.559|{facility}|c#consumer-1| [thrd:main]: {message}", named)
    python = f"2025-11-18 15:40:07,559 DEBUG kafka: {facility} [c#consumer-1] [thrd:main]: "
    check("", python + message, named)


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        ("joining group; group: g", [{"what": "asking", "group": "g"}]),
        (
            "join returned MemberIDRequired, rejoining with response's MemberID; group: g, "
            f"member_id: {M}",
            [{"what": "named", "member": M}],
        ),
        (
            f"joined; group: g, member_id: {M}, instance_id: i-1, generation: 3, leader: false",
            [{"what": "joined", "generation": 3, "member": M, "instance": "i-1"}],
        ),
        (
            f"joined, balancing group; group: g, member_id: {M}, instance_id: <nil>, generation: 3, "
            "balance_protocol: range, leader: true",
            [{"what": "joined", "generation": 3, "member": M, "instance": "", "why": "range"}],
        ),
        (f"balance group member; id: {M}, interests: topics: [t], previously owned: t[0 1]", []),
        (
            f"balanced; plan: {M}{{t[0 1]}}, x{{t[2]}}",
            [{"what": "planned", "plan": {M: BOTH, "x": ("t-2",)}}],
        ),
        ("synced; group: g, assigned: t[0 1]", [{"what": "synced", "group": "g"}]),
        (
            "new group session begun; group: g, added: t[0 1], lost: ",
            [{"what": "assigned", "partitions": BOTH}],
        ),
        (
            "heartbeat errored; group: g, err: REBALANCE_IN_PROGRESS: The group is rebalancing",
            [{"what": "heard", "group": "g"}],
        ),
        (
            "eager consumer revoking prior assigned partitions; group: g, revoking: t[0 1]",
            [{"what": "revoked", "partitions": BOTH}],
        ),
        (
            "calling onRevoke at the end of a session; group: g, lost: t[0 1], stage: 1",
            [{"what": "revoked", "partitions": BOTH}],
        ),
        (
            "cooperative consumer revoking prior assigned partitions because leaving group; group: g, "
            "revoking: t[0 1]",
            [{"what": "revoked", "partitions": BOTH}],
        ),
        (f"leaving group; group: g, member_id: {M}", [{"what": "leaving", "member": M}]),
        (
            "beginning to manage the next-gen group lifecycle; group: g",
            [{"what": "started", "group": "g"}],
        ),
        (
            f"consumer group heartbeat received updated assignment; group: g, member_id: {M}, epoch: 4",
            [{"what": "epoch", "member": M, "generation": 4}],
        ),
    ],
)
def test_franz_go(message: str, proved: Proved) -> None:
    check(FRANZ + "synced; group: g, assigned: t[0]", FRANZ + message, proved)


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        (
            "client/coordinator coordinator for g is #1 (h:9092)",
            [{"what": "coordinator-found", "group": "g"}, {"what": "sarama-asking", "group": "g"}],
        ),
        (
            f"consumergroup/session/{M}/3 heartbeat loop stopped",
            [{"what": "sarama-stopped", "member": M, "generation": 3}],
        ),
        (
            f"consumergroup/session/{M}/3 released",
            [{"what": "sarama-released", "member": M, "generation": 3}],
        ),
        ("consumergroup/g loop check partition number goroutine will exit, topics [t]", []),
        (
            "consumer/broker/1 added subscription to t/0",
            [{"what": "sarama-added", "partitions": ("t-0",)}],
        ),
        (
            "consumer/broker/1 closed dead subscription to t/0",
            [{"what": "sarama-closed", "partitions": ("t-0",)}],
        ),
        (
            "JoinGroup failed: group instance id i-1 has been fenced",
            [{"what": "thrown-out", "why": "FENCED_INSTANCE_ID"}],
        ),
    ],
)
def test_sarama(message: str, proved: Proved) -> None:
    check(SARAMA + "consumer/broker/1 added subscription to u/7", SARAMA + message, proved)


BOTH_PYTHONS: list[tuple[str, Proved]] = [
    ("(Re-)joining group g", [{"what": "asking", "group": "g"}]),
    (
        f"Setting newly assigned partitions {SETS} for group g",
        [{"what": "assigned", "group": "g", "partitions": BOTH}],
    ),
    ("Elected group leader -- performing partition assignments using range", []),
    (
        "Heartbeat failed for group g because it is rebalancing",
        [{"what": "heard", "group": "g"}],
    ),
]


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        *BOTH_PYTHONS,
        (
            f"Received member id {M} for group g; will retry join-group",
            [{"what": "named", "member": M}],
        ),
        (
            f"Successfully joined group g <Generation 3 (member_id: {M}, protocol: range)>",
            [{"what": "joined", "generation": 3, "member": M, "why": "range"}],
        ),
        ("Updated partition assignment: [TopicPartition(topic='t', partition=0)]", []),
        *(
            (
                f"Revoking previously assigned partitions {SETS} for group g{closing}",
                [{"what": "revoked", "group": "g", "partitions": BOTH}],
            )
            for closing in ("", " on close")
        ),
        ("Group g is rebalancing; rejoining.", [{"what": "heard", "group": "g"}]),
        ("Cooperative rebalance complete for group g: owned=set(), assigned=set()", []),
        (
            "Triggering follow-up rebalance for group g (revoked partitions)",
            [{"what": "rejoining", "why": "need to revoke partitions and re-join"}],
        ),
        ("Heartbeat session expired, marking coordinator dead", [{"what": "thrown-out"}]),
        ("Consumer poll timeout has expired. This means", [{"what": "poll-expired"}]),
        (
            f"Group g lost membership; forcibly revoking {SETS}",
            [{"what": "lost", "group": "g", "partitions": BOTH}],
        ),
        (f"Leaving consumer group g (member {M}).", [{"what": "leaving", "member": M}]),
        (
            "Heartbeat failed for group g: generation id is not current.",
            [{"what": "thrown-out", "why": "ILLEGAL_GENERATION"}],
        ),
        (
            "Heartbeat: local member_id was not recognized; this consumer needs to re-join",
            [{"what": "thrown-out", "why": "UNKNOWN_MEMBER_ID"}],
        ),
    ],
)
def test_kafka_python(message: str, proved: Proved) -> None:
    check(PYTHON + "(Re-)joining group h", PYTHON + message, proved)


@pytest.mark.parametrize(
    ("message", "proved"),
    [
        *BOTH_PYTHONS,
        (
            f"Joined group 'g' (generation 3) with member_id {M}",
            [{"what": "joined", "group": "g", "generation": 3, "member": M}],
        ),
        (
            "Successfully synced group g with generation 3",
            [{"what": "synced", "group": "g"}],
        ),
        (
            f"Revoking previously assigned partitions frozenset({SETS}) for group g",
            [{"what": "revoked", "group": "g", "partitions": BOTH}],
        ),
        (
            "Heartbeat failed: local member_id was not recognized; resetting and re-joining group",
            [{"what": "thrown-out", "why": "UNKNOWN_MEMBER_ID"}],
        ),
        ("LeaveGroup request succeeded", [{"what": "closed"}]),
    ],
)
def test_aiokafka(message: str, proved: Proved) -> None:
    check(AIO + "(Re-)joining group h", AIO + message, proved)


@pytest.mark.parametrize(
    ("message", "fields", "proved"),
    [
        ("[Consumer] Starting", {"groupId": "g"}, [{"what": "started", "group": "g"}]),
        (
            "[ConsumerGroup] Consumer has joined the group",
            {
                "groupId": "g",
                "memberId": M,
                "memberAssignment": {"t": [0, 1]},
                "groupProtocol": "RoundRobinAssigner",
                "duration": 250,
            },
            [
                {"what": "asking", "group": "g"},
                {"what": "joined", "member": M, "why": "RoundRobinAssigner"},
                {"what": "assigned", "partitions": BOTH},
            ],
        ),
        (
            "[Connection] Response Heartbeat(key: 12, version: 3)",
            {"error": "The group is rebalancing, so a rejoin is needed"},
            [],  # it goes on with its batch: what it acts on, its runner says
        ),
        (
            "[Runner] The group is rebalancing, re-joining",
            {"groupId": "g", "memberId": M},
            [{"what": "heard", "group": "g"}, {"what": "gives-up", "group": "g"}],
        ),
        (
            "[Runner] The coordinator is not aware of this member, re-joining the group",
            {"groupId": "g", "memberId": M},
            [{"what": "thrown-out", "why": "UNKNOWN_MEMBER_ID"}, {"what": "gives-up"}],
        ),
        ("[ConsumerGroup] Chosen as group leader", {"groupId": "g", "generationId": 3}, []),
        ("[ConsumerGroup] Group assignment", {"groupId": "g", "generationId": 3}, []),
        (
            "[ConsumerGroup] Received assignment",
            {"groupId": "g", "generationId": 3, "memberAssignment": {"t": [0]}},
            [{"what": "synced", "generation": 3}],
        ),
        ("[Consumer] Stopped", {"groupId": "g"}, [{"what": "closed", "group": "g"}]),
    ],
)
def test_kafkajs(message: str, fields: dict[str, object], proved: Proved) -> None:
    told = {"level": "INFO", "timestamp": "2025-11-18T15:40:07.559Z", "logger": "kafkajs"}
    check("", json.dumps({**told, "message": message, **fields}), proved)
