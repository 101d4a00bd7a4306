"""One line of each template of each dialect, and what it proves."""

from __future__ import annotations

import pytest
from reading_logs import AT, facts_of, observed

JAVA = "2025-11-18 15:40:07,559 [main] INFO o.a.k.X - [Consumer clientId=c0, groupId=g] "
BROKER = (
    "[2025-11-18 15:40:07,559] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
)
SCALA = "[2025-11-18 15:40:07,559] INFO [GroupCoordinator 1]: "
M = "c1-576da3a1-e5fd-420c-9a03-505dabad078c"
NEW_BROKER = BROKER + "[GroupId g] "
RD = "%7|1763480407.559|"
PYTHON = "2025-11-18 15:40:07,559 INFO kafka.coordinator: "
SETS = "{TopicPartition(topic='t', partition=1), TopicPartition(topic='t', partition=0)}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            SCALA + f"Adding new static member i-1 to group g with member id {M}.",
            {"what": "added", "instance": "i-1", "member": M},
        ),
        (
            SCALA + f"Static member Some(i-1) of group g with unknown member id rejoins, assigning "
            f"new member id {M}, while old member id c1-old will be removed.",
            {"what": "replaced", "instance": "i-1", "member": M, "other": "c1-old"},
        ),
        (
            JAVA + f"ConsumerGroupHeartbeatRequest failed for member {M} due to "
            "FENCED_MEMBER_EPOCH: fenced",
            {"what": "thrown-out", "member": M, "why": "FENCED_MEMBER_EPOCH"},
        ),
        (JAVA + "(Re-)joining group", {"what": "asking", "client": "c0", "thread": "main"}),
        (JAVA + "Request joining group due to: group is already rebalancing", {"what": "heard"}),
        (JAVA + "Attempt to heartbeat failed since group is rebalancing", {"what": "heard"}),
        (
            JAVA + f"Request joining group due to: need to re-join with the given member-id: {M}",
            {"what": "named", "member": M},
        ),
        (
            JAVA + "Request joining group due to: need to revoke partitions [t-1] as indicated by "
            "the current assignment and re-join",
            {"what": "rejoining", "partitions": ("t-1",)},
        ),
        (
            JAVA + "Need to revoke partitions [t-1, t-0] and re-join the group",
            {"what": "rejoining", "partitions": ("t-0", "t-1")},
        ),
        (
            JAVA + "Successfully joined group with generation Generation{generationId=5, "
            f"memberId='{M}', protocol='range'}}",
            {"what": "joined", "generation": 5, "member": M, "why": "range"},
        ),
        (
            JAVA + "Successfully joined group with generation 5",
            {"what": "joined", "generation": 5},
        ),
        (
            JAVA + f"Finished assignment for group at generation 3: {{{M}=Assignment(partitions="
            "[t-0, t-10], userDataSize=4)}",
            {"what": "planned", "generation": 3, "plan": {M: ("t-0", "t-10")}},
        ),
        (
            JAVA + "Adding newly assigned partitions: [a.b-c-12, t-3]",
            {"what": "assigned", "partitions": ("a.b-c-12", "t-3")},
        ),
        (
            JAVA + "Adding newly assigned partitions: t-10, t-9",
            {"what": "assigned", "partitions": ("t-9", "t-10")},
        ),
        (JAVA + "Adding newly assigned partitions: ", {"what": "assigned", "partitions": ()}),
        (
            JAVA + "Lost previously assigned partitions [t-0] (org.apache.kafka.X)",
            {"what": "lost", "partitions": ("t-0",)},
        ),
        (
            JAVA
            + f"Member {M} sending LeaveGroup request to coordinator h:1 (id: 2147483646 rack: "
            "null) due to the consumer is being closed",
            {"what": "leaving", "member": M, "why": "the consumer is being closed"},
        ),
        (JAVA + "Consumer poll timeout has expired. This means", {"what": "poll-expired"}),
        (
            JAVA + "Member Ab-_x with epoch 3 transitioned from STABLE to RECONCILING.",
            {"what": "state", "member": "Ab-_x", "generation": 3, "why": "STABLE>RECONCILING"},
        ),
        (
            "2025-11-18 15:40:07,559 [main] INFO o.a.k.c.c.internals.ConsumerUtils - Setting offset "
            "for partition t-0 to the committed offset FetchPosition{offset=42, x}",
            {"what": "positioned", "partitions": ("t-0",), "thread": "main"},
        ),
        (
            "2025-11-18T15:40:07.559Z  INFO 1 --- [shop] [ orders-0-C-1] o.s.k.l."
            "KafkaMessageListenerContainer : g: partitions assigned: [t-0, t-1]",
            {"what": "assigned", "group": "g", "is_second_hand": True},
        ),
        (
            BROKER + "Preparing to rebalance group g in state PreparingRebalance with old "
            f"generation 1 (reason: removing member {M} on heartbeat expiration.). (x.Y)",
            {"what": "preparing", "group": "g", "generation": 1},
        ),
        (
            SCALA + "Preparing to rebalance group g in state PreparingRebalance with old "
            f"generation 1 (__consumer_offsets-7) (reason: removing member {M} on LeaveGroup)",
            {"what": "preparing", "generation": 1, "why": f"removing member {M} on LeaveGroup"},
        ),
        (
            SCALA + "Stabilized group g generation 5 (__consumer_offsets-7) with 3 members",
            {"what": "stabilized", "generation": 5, "amount": 3},
        ),
        (
            SCALA + "Assignment received from leader for group g for generation 5. The group has",
            {"what": "distributed", "group": "g", "generation": 5, "member": ""},
        ),
        (
            BROKER + f"[Group g] Member {M} has left group through explicit `LeaveGroup` request; "
            "client reason: consumer poll timeout has expired. (org.apache.kafka.X)",
            {"what": "left", "member": M, "why": "consumer poll timeout has expired"},
        ),
        (
            SCALA + f"Member MemberMetadata(memberId={M}, groupInstanceId=None, clientId=c1, "
            "clientHost=/10.0.0.1, sessionTimeoutMs=10000, rebalanceTimeoutMs=300000, "
            "supportedProtocols=List(range)) has left group g through explicit `LeaveGroup`; client "
            "reason: the consumer is being closed",
            {"what": "left", "member": M, "why": "the consumer is being closed"},
        ),
        (
            SCALA + f"Member[group.instance.id Some(i), member.id {M}] in group g has left, "
            "removing it from the group",
            {"what": "left", "member": M},
        ),
        (
            SCALA + f"Group g removed dynamic members who haven't joined: Set({M})",
            {"what": "removed", "member": M},
        ),
        (
            SCALA
            + "Static member i of group g with unknown member id rejoins, assigning new member "
            f"id {M}, while old member id old-{M} will be removed.",
            {"what": "replaced", "instance": "i", "member": M},
        ),
        (
            NEW_BROKER + "Member Ab-_x joins the consumer group using the consumer protocol.",
            {"what": "added", "member": "Ab-_x", "why": "consumer"},
        ),
        (
            NEW_BROKER + "Static member with instance id i-1 re-joins the consumer group using the "
            "consumer protocol. Created a new member Ab to replace the existing member Cd.",
            {"what": "replaced", "instance": "i-1", "member": "Ab", "other": "Cd"},
        ),
        (
            NEW_BROKER + "Bumped group epoch to 4 with metadata hash 123.",
            {"what": "bumped", "generation": 4},
        ),
        (
            NEW_BROKER
            + "Member x fenced from the group because it failed to transition from epoch "
            "3 within 45000ms.",
            {"what": "stuck", "member": "x"},
        ),
        (
            RD + 'CGRPJOINSTATE|c#consumer-1| [thrd:main]: Group "g" changed join state init -> '
            "wait-join (state up)",
            {"what": "rd-state", "group": "g", "client": "c", "why": "init>wait-join"},
        ),
        (
            "%4|1763480407.559|MAXPOLL|c#consumer-1| [thrd:main]: Application maximum poll interval "
            "(12000ms) exceeded by 164ms (adjust max.poll.interval.ms): leaving group",
            {"what": "poll-expired", "client": "c", "amount": 12_164},
        ),
        (
            "2025/11/18 15:40:07.559000 [INFO] joined, balancing group; group: g, member_id: "
            f"{M}, instance_id: <nil>, generation: 2, balance_protocol: range, leader: true",
            {"what": "joined", "group": "g", "member": M, "generation": 2, "why": "range"},
        ),
        (
            "2025-11-18T15:40:07.559Z [INFO] eager consumer revoking prior assigned partitions; "
            "group: g, revoking: t[0 1], u[7]",
            {"what": "revoked", "partitions": ("t-0", "t-1", "u-7")},
        ),
        (
            PYTHON + f"Setting newly assigned partitions {SETS} for group g",
            {"what": "assigned", "group": "g", "partitions": ("t-0", "t-1")},
        ),
        (
            PYTHON
            + f"Successfully joined group g <Generation 3 (member_id: {M}, protocol: range)>",
            {"what": "joined", "member": M, "generation": 3, "why": "range"},
        ),
        (
            PYTHON + f"Joined group 'g' (generation 3) with member_id {M}",
            {"what": "joined", "group": "g", "member": M, "generation": 3},
        ),
        (
            "2025-11-18 15:40:07,559 WARNING:aiokafka.consumer.group_coordinator:Heartbeat failed "
            "for group g because it is rebalancing",
            {"what": "heard", "group": "g"},
        ),
        (
            "[2025-11-18 15:40:07,559] INFO [Worker clientId=connect-h:1, groupId=g] Rebalance "
            "started (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator)",
            {"what": "asking", "client": "connect-h:1", "group": "g"},
        ),
    ],
)
def test_one_line_and_what_it_proves(line: str, expected: dict[str, object]) -> None:
    fact = facts_of(line)[0]
    assert {key: getattr(fact, key) for key in expected} == expected
    assert fact.at_us == AT
    for cut in range(0, len(line), 9):  # half lines, doubled lines, and what is left of them
        observed(
            a=[line[:cut], line[cut:], line + line[:cut]], b=[line[:cut] + "\x00" + line[cut:]]
        )


@pytest.mark.parametrize(
    "text",
    [
        "Stabilized group g generation 5 with 3 members.",
        "Stabilized group g generation 5 (__consumer_offsets-7) with 3 members",
    ],
)
def test_52_stabilized_in_the_log_is_the_end_of_the_barrier_and_not_stable(text: str) -> None:
    assert [f.what for f in facts_of(BROKER + text)] == ["stabilized"]


def test_kafkajs_tells_joins_when_they_are_over() -> None:
    line = (
        '{"level":"INFO","timestamp":"2025-11-18T15:40:07.559Z","logger":"kafkajs","message":'
        '"[ConsumerGroup] Consumer has joined the group","groupId":"g","memberId":"' + M + '",'
        '"memberAssignment":{"t":[0,3]},"groupProtocol":"RoundRobinAssigner","duration":250}'
    )
    asking, joined, assigned = facts_of(line)
    assert (asking.what, asking.at_us) == ("asking", AT - 250_000)
    assert (joined.what, joined.member) == ("joined", M)
    assert assigned.partitions == ("t-0", "t-3")


def test_connects_assignment_comes_with_what_must_be_given_up() -> None:
    line = (
        "[2025-11-18 15:40:07,559] INFO [Worker clientId=w, groupId=g] Joined group at generation 4 "
        "with protocol version 2 and got assignment: Assignment{error=0, leader='x', leaderUrl='y', "
        "offset=3, connectorIds=[files], taskIds=[files-0, files-1], revokedConnectorIds=[], "
        "revokedTaskIds=[db-0], delay=0} with rebalance delay: 0"
    )
    revoked, assigned = facts_of(line)
    assert (revoked.what, revoked.partitions) == ("revoked", ("db-0",))
    assert (assigned.what, assigned.partitions) == ("assigned", ("files", "files-0", "files-1"))


def test_a_coordinator_that_loads_a_group_tells_its_members_timeouts() -> None:
    """Also of a member that prints no settings itself."""
    client = f"{JAVA}Successfully joined group with generation Generation{{generationId=5, "
    lines = {
        "c1": [f"{client}memberId='{M}', protocol='range'}}"],
        "broker": [
            f"{SCALA}Preparing to rebalance group g in state PreparingRebalance with old generation "
            f"4 (__consumer_offsets-0) (reason: removing member {M} on LeaveGroup)",
            f"{SCALA}Loaded member MemberMetadata(memberId={M}, groupInstanceId=None, clientId=c0, "
            "clientHost=/10.0.0.1, sessionTimeoutMs=12000, rebalanceTimeoutMs=90000, "
            "supportedProtocols=List(range)) in group g with generation 4.",
        ],
    }
    (voice,) = observed(**lines).groups["g"].voices
    assert (voice.settled("session.timeout.ms"), voice.settled("max.poll.interval.ms")) == (
        12_000,
        90_000,
    )
