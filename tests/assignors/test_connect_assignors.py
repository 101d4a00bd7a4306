"""Connect's assignors on clusters small enough to follow by hand."""

from __future__ import annotations

import random

from rebalsim.assignors.connect import eager, incremental
from rebalsim.assignors.connect.incremental import Generations, back_off_ms
from rebalsim.assignors.connect.memory import NOTHING_REMEMBERED, Memory
from rebalsim.assignors.connect.round import Answer, ConfigSnapshot, WorkerClaim
from rebalsim.assignors.connect.work import NO_WORK, Task, Work, as_transmitted, task_named

DELAY = 300_000


class Cluster:
    """Workers that claim what they were given, and the memory of the one that leads."""

    def __init__(self, config: dict[str, int], *workers: str, delay: int = DELAY) -> None:
        self.config = dict(config)
        self.runs: dict[str, Work] = dict.fromkeys(workers, NO_WORK)
        self.memory: Memory = NOTHING_REMEMBERED
        self.generation, self.now, self.delay = 0, 1000, delay

    def round(self, after: int = 1000) -> Answer:
        self.now += after
        self.generation += 1
        claims = [WorkerClaim(w, 1, as_transmitted(work)) for w, work in self.runs.items()]
        answer, self.memory = incremental.assign(
            claims,
            ConfigSnapshot(1, self.config),
            self.memory,
            Generations(self.generation, self.generation - 1 if self.generation > 1 else -1),
            self.now,
            self.delay,
        )
        for worker, share in answer.shares.items():
            self.runs[worker] = share.given.then(self.runs[worker].without(share.revoked))
        return answer

    def settle(self) -> int:
        """Rounds until nothing is revoked any more and no delay runs."""
        rounds = 1
        while (answer := self.round(max(1000, self.memory.delay_ms))).delay_ms or any(
            share.revoked for share in answer.shares.values()
        ):
            rounds += 1
            assert rounds < 40
        return rounds


def test_a_lost_workers_tasks_wait_out_the_delay_and_go_to_the_idle_newcomer() -> None:
    cluster = Cluster({"src": 4}, "w0-a", "w1-b")
    cluster.round()
    lost = cluster.runs.pop("w1-b")
    assert cluster.round().delay_ms == DELAY
    cluster.runs["w1-c"] = NO_WORK  # restarted: a new id, nothing claimed
    assert cluster.round(10_000).delay_ms == DELAY - 10_000
    answer = cluster.round(DELAY - 10_000)
    assert answer.delay_ms == 0
    assert set(answer.shares["w1-c"].given.tasks) == set(lost.tasks)
    assert not answer.shares["w0-a"].given


def test_who_comes_back_with_its_work_ends_the_delay() -> None:
    cluster = Cluster({"src": 4}, "w0-a", "w1-b")
    cluster.round()
    still_running = cluster.runs.pop("w1-b")
    cluster.round()
    cluster.runs["w1-c"] = still_running
    answer = cluster.round()
    assert answer.delay_ms == 0 and not any(s.given or s.revoked for s in answer.shares.values())


def test_a_new_leader_remembers_nothing_and_waits_for_nobody() -> None:
    cluster = Cluster({"src": 4}, "w0-a", "w1-b")
    cluster.round()
    cluster.runs.pop("w0-a")
    cluster.memory = NOTHING_REMEMBERED
    answer = cluster.round()
    assert answer.delay_ms == 0
    assert sorted(map(str, cluster.runs["w1-b"].tasks)) == ["src-0", "src-1", "src-2", "src-3"]


def test_without_a_delay_lost_work_goes_out_at_once() -> None:
    cluster = Cluster({"src": 4}, "w0-a", "w1-b", delay=0)
    cluster.round()
    cluster.runs.pop("w1-b")
    assert cluster.round().delay_ms == 0 and len(cluster.runs["w0-a"].tasks) == 4


def test_a_newcomer_takes_what_is_revoked_from_the_front_of_the_claims() -> None:
    cluster = Cluster({"src": 4}, "w0-a")
    cluster.round()
    cluster.runs["w1-b"] = NO_WORK
    first = cluster.runs["w0-a"].tasks[:2]
    answer = cluster.round()
    assert answer.shares["w0-a"].revoked.tasks == first and not answer.shares["w1-b"].given
    assert set(cluster.round().shares["w1-b"].given.tasks) == set(first)


def test_what_an_idle_worker_is_given_as_the_delay_ends_may_be_revoked_before_it_ever_ran() -> None:
    cluster = Cluster({"src": 9}, "w0-a", "w1-b", "w2-c")
    cluster.settle()
    gone = [cluster.runs.pop(name) for name in ("w1-b", "w2-c")]
    lost = {task for work in gone for task in work.tasks}
    cluster.round()
    cluster.runs["w3-d"] = NO_WORK
    cluster.round(10_000)
    answer = cluster.round(DELAY - 10_000)  # it takes all six, and keeps its share of nine
    share = answer.shares["w3-d"]
    assert share.revoked.tasks and set(share.revoked.tasks) <= lost
    assert set(share.given.tasks) | set(share.revoked.tasks) == lost
    assert not set(share.given.tasks) & set(share.revoked.tasks)
    waiting = set(share.revoked.tasks)
    assert {task for s in cluster.round().shares.values() for task in s.given.tasks} == waiting


def test_what_two_workers_run_is_taken_from_both() -> None:
    cluster = Cluster({"src": 1}, "w0-a", "w1-b")
    cluster.round()
    cluster.runs = dict.fromkeys(cluster.runs, Work((), (Task("src", 0),)))
    answer = cluster.round()
    assert all(share.revoked.tasks == (Task("src", 0),) for share in answer.shares.values())


def test_a_leader_that_has_not_read_the_config_assigns_nothing_and_remembers_nothing_new() -> None:
    claims = [WorkerClaim("w0-a", 3), WorkerClaim("w1-b", 5)]
    behind = ConfigSnapshot(3, {"src": 2})
    answer, memory = incremental.assign(
        claims, behind, NOTHING_REMEMBERED, Generations(1, -1), 0, DELAY
    )
    assert answer.is_config_mismatch and answer.offset == 5 and memory is NOTHING_REMEMBERED
    fresh = ConfigSnapshot(6, {"src": 2})
    answer, _ = incremental.assign(
        claims, behind, NOTHING_REMEMBERED, Generations(1, -1), 0, DELAY, fresh
    )
    assert not answer.is_config_mismatch and answer.offset == 6
    assert eager.assign(claims, behind).is_config_mismatch


def test_eager_deals_tasks_on_where_connectors_ended() -> None:
    claims = [WorkerClaim(w, 1) for w in ("b", "a", "c")]
    answer = eager.assign(claims, ConfigSnapshot(1, {"y": 2, "x": 1}))
    told = {worker: share.given.names() for worker, share in answer.shares.items()}
    assert told == {"a": ["x", "y-0"], "b": ["y", "y-1"], "c": ["x-0"]}


def test_successive_revocations_back_off_up_to_the_longest_delay() -> None:
    assert [back_off_ms(n, DELAY) for n in (1, 2, 3, 4)] == [40, 1600, 64_000, DELAY]
    assert (back_off_ms(3, 0), back_off_ms(3, 1)) == (0, 1)


def test_a_claim_reads_back_connector_by_connector() -> None:
    work = Work(("src", "snk"), tuple(map(task_named, ("snk-1", "src-0", "jdbc-0", "snk-0"))))
    read = as_transmitted(work)
    assert read.connectors == ("snk", "src")  # Java's hash order of names
    assert list(map(str, read.tasks)) == ["snk-1", "snk-0", "src-0", "jdbc-0"]


def test_whatever_happens_everything_runs_once_and_evenly_in_the_end() -> None:
    for seed in range(150):
        chance = random.Random(seed)
        config = {f"c{i}": chance.randint(0, 7) for i in range(chance.randint(1, 5))}
        cluster = Cluster(config, *(f"w{i}-{chance.random()}" for i in range(3)), delay=5000)
        for i in range(8):
            match chance.randrange(4):
                case 0:
                    cluster.runs[f"n{i}-{chance.random()}"] = NO_WORK
                case 1 if len(cluster.runs) > 1:
                    cluster.runs.pop(chance.choice(list(cluster.runs)))
                case 2:
                    cluster.config[chance.choice(list(config))] = chance.randint(0, 9)
                case 3:
                    cluster.memory = NOTHING_REMEMBERED  # another leader
            cluster.round(chance.randint(1, 9000))
        cluster.memory = NOTHING_REMEMBERED
        cluster.settle()
        running = [task for work in cluster.runs.values() for task in work.tasks]
        wanted = [Task(c, n) for c, count in cluster.config.items() for n in range(count)]
        assert set(wanted) <= set(running), f"seed {seed}: {set(wanted) - set(running)} lost"
        counts = [len([t for t in w.tasks if t in wanted]) for w in cluster.runs.values()]
        assert len([t for t in running if t in wanted]) == len(wanted), f"seed {seed}: twice"
        assert max(counts) - min(counts) <= 1 or set(running) != set(wanted), f"seed {seed}"
