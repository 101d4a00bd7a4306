"""Rules that hold for every group of a Streams application, whatever its shape; and the figures
that an owner is told by `rebalsim assign`.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.assignors.streams import leader, server_sticky
from rebalsim.assignors.streams.process import ThreadClaim
from rebalsim.assignors.streams.settings import EVERYBODY_IS_CAUGHT_UP, TaskAssignorSettings
from rebalsim.assignors.streams.tasks import Subtopology, TaskId, process_order, topology_of
from rebalsim.cli.assign import command
from rebalsim.domain.java_heap import JavaPriorityQueue


def topology(tasks: int, *, stateful: bool = True) -> Any:
    logs = ("app-s-changelog",) if stateful else ()
    return topology_of([Subtopology(("t",), logs)], {"t": tasks})


def ids(count: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return sorted(
        (str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(count)), key=process_order
    )


def ask(topo: Any, claims: list[ThreadClaim], **options: Any) -> leader.LeaderAnswer:
    known: dict[str, Any] = {
        "leader": claims[0].process,
        "now_ms": 1000,
        "settings": TaskAssignorSettings(),
        "end_offset_sums": dict.fromkeys(topo.changelogs, 50_000),
    }
    return leader.assign("streams-ha", topo, claims, **{**known, **options})


def after(answer: leader.LeaderAnswer, processes: list[str]) -> list[ThreadClaim]:
    """Everybody runs what it was given, and its standbys are caught up."""
    claims = []
    for process in processes:
        share = answer.shares.get(f"m-{process}")
        if share is None:
            claims.append(ThreadClaim(f"m-{process}", process))
            continue
        sums = dict.fromkeys(share.standby, 50000) | dict.fromkeys(share.active, -2)
        claims.append(ThreadClaim(f"m-{process}", process, share.partitions, sums))
    return claims


def fresh(processes: list[str]) -> list[ThreadClaim]:
    return [ThreadClaim(f"m-{process}", process) for process in processes]


@pytest.mark.parametrize("assignor", list(leader.TASK_ASSIGNORS))
@pytest.mark.parametrize("seed", range(12))
def test_every_task_has_one_owner_and_its_standbys_other_instances(
    assignor: str, seed: int
) -> None:
    chance = random.Random(seed)
    topo = topology_of(
        [Subtopology(("a",), ("app-a-changelog",)), Subtopology(("b", "c"))],
        {"a": chance.randint(1, 20), "b": chance.randint(1, 9), "c": chance.randint(1, 9)},
    )
    k, processes = chance.randint(0, 2), ids(chance.randint(1, 6), seed)
    claims = [
        ThreadClaim(f"{process}-{n}", process) for process in processes for n in range(seed % 3 + 1)
    ]
    answer = ask(topo, claims, settings=TaskAssignorSettings(num_standby_replicas=k))
    owners = [task for share in answer.shares.values() for task in share.active]
    assert tuple(sorted(owners)) == topo.tasks
    for task in topo.stateful:
        holders = [p for p, (active, standby) in answer.decided.items() if task in active | standby]
        assert len(holders) == min(1 + k, len(processes))
    counts = [len(active) + len(standby) for active, standby in answer.decided.values()]
    assert assignor != "streams-ha" or max(counts) - min(counts) <= 2


def test_processes_are_ordered_with_a_sign() -> None:
    low, high = f"8{'0' * 7}-0000-4000-8000-{'0' * 12}", f"7{'f' * 7}-0000-4000-8000-{'0' * 12}"
    assert process_order(low) < process_order(high)


def test_a_newcomer_warms_up_before_tasks_move() -> None:
    topo, (first, second) = topology(6), ids(2)
    alone = ask(topo, fresh([first]))
    both = ask(topo, after(alone, [first, second]))
    assert both.probing and both.shares[f"m-{first}"].next_rebalance_ms == 1000 + 600_000
    assert len(both.shares[f"m-{first}"].active) == 6
    assert len(both.shares[f"m-{second}"].standby) == 2  # max.warmup.replicas


def test_small_stores_move_at_once_and_cold() -> None:
    topo, (first, second) = topology(6), ids(2)
    ends = dict.fromkeys(topo.changelogs, 10_000)  # no more than acceptable.recovery.lag
    alone = ask(topo, fresh([first]), end_offset_sums=ends)
    both = ask(topo, after(alone, [first, second]), end_offset_sums=ends)
    assert not both.probing
    assert both.shares[f"m-{second}"].next_rebalance_ms == 0  # until the first one let go


def test_with_an_unbounded_lag_everybody_is_caught_up() -> None:
    topo, (first, second) = topology(6), ids(2)
    settings = TaskAssignorSettings(acceptable_recovery_lag=EVERYBODY_IS_CAUGHT_UP)
    alone = ask(topo, fresh([first]), settings=settings)
    assert not ask(topo, after(alone, [first, second]), settings=settings).probing


def test_without_end_offsets_everything_stays_and_is_looked_at_again() -> None:
    topo, processes = topology(6), ids(3)
    begun = ask(topo, fresh(processes[:2]))
    again = ask(topo, after(begun, processes), end_offset_sums=None)
    assert again.fell_back and again.probing
    for process in processes[:2]:
        assert again.decided[process][0] == begun.decided[process][0]


def test_the_brokers_assignor_keeps_members_tasks_up_to_their_share() -> None:
    tasks = tuple(TaskId(0, n) for n in range(6))
    members = [
        server_sticky.StreamsMember("a", "p1", tasks),
        server_sticky.StreamsMember("b", "p2"),
    ]
    target = server_sticky.assign({0: 6}, {0: True}, members, 1)
    assert target["a"].active == set(tasks[:3]) and target["b"].active == set(tasks[3:])
    assert target["a"].standby == target["b"].active


def test_two_thousand_tasks_on_four_hundred_threads_take_seconds() -> None:
    topo, processes = topology(2000), ids(101)

    def threads(claims: list[ThreadClaim]) -> list[ThreadClaim]:
        return [
            claim if n == 0 else replace(claim, member_id=f"{claim.member_id}-{n}", owned=())
            for claim in claims
            for n in range(4)
        ]

    started = time.process_time()
    begun = ask(topo, threads(fresh(processes[:100])))
    claims = []
    for process in processes[1:]:
        for n in range(4):
            member = f"m-{process}" + (f"-{n}" if n else "")
            share = begun.shares.get(member)
            owned, active = (share.partitions, share.active) if share else ((), [])
            claims.append(ThreadClaim(member, process, owned, dict.fromkeys(active, -2)))
    answer = ask(topo, claims)
    assert answer.probing and time.process_time() - started < 10


def test_javas_heap_tells_equal_weights_apart_by_its_array() -> None:
    heap = JavaPriorityQueue(lambda entry: entry[0], [(1, n) for n in range(5)])
    assert [heap.poll() for _ in range(5)] == [(1, 0), (1, 4), (1, 3), (1, 2), (1, 1)]
    heap = JavaPriorityQueue(lambda entry: entry[0])
    for weight in (5, 3, 8, 1):
        heap.offer((weight, 0))
    heap.remove((3, 0))
    assert [heap.poll() for _ in range(4)] == [(1, 0), (5, 0), (8, 0), None]


def assigned(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(command, [*arguments, "--json"], standalone_mode=False)
    assert result.return_value == 0, result.output
    document: dict[str, Any] = json.loads(result.output)
    return document


def test_assign_follows_an_application_through_its_probing_rebalances() -> None:
    told = assigned(
        "--assignor", "streams-ha", "--topics", "orders:6", "--members", "2", "--then", "+1"
    )
    step = told["steps"][1]
    assert all(move["warm"] for move in step["moved"]) and step["moved"]
    assert step["probing_rebalances"] >= 1 and step["warmups"]
    assert sorted(map(len, step["active"].values())) == [2, 2, 2]


def test_assign_says_that_small_stores_move_cold() -> None:
    told = assigned(
        *("--assignor", "streams-ha", "--topics", "orders:7", "--members", "3"),
        *("--then", "-c2", "--records", "4000"),
    )
    step = told["steps"][1]
    assert not any(move["warm"] for move in step["moved"]) and step["probing_rebalances"] == 0
    assert len(step["moved"]) > len(told["steps"][0]["active"]["c2"])  # the survivors swap, too


def test_assign_knows_the_streams_protocol_and_prints_it() -> None:
    arguments = [
        *("--assignor", "streams-broker-sticky", "--topics", "orders:6", "--members", "2"),
        *("--then", "+1", "--set", "num.standby.replicas=1", "--set", "num.stream.threads=2"),
    ]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.return_value == 0 and "moved" in result.output and "+1: 3" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--assignor", "streams-best"], "no task assignor"),
        (["--assignor", "streams-ha", "--set", "x=1"], "what counts here"),
        (["--assignor", "streams-ha", "--set", "max.warmup.replicas=0"], "at least 1"),
        (["--assignor", "streams-ha", "--stateless", "nope"], "no topic 'nope'"),
    ],
)
def test_assign_says_what_it_cannot_read(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(
        command, ["--topics", "orders:6", *arguments], standalone_mode=False
    )
    assert result.exception is not None and said in str(result.exception)
