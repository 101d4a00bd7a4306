"""Connect's incremental cooperative assignor (KIP-415), with the delay for lost work and the
back-off of successive revocations.

A round is worked out from what the workers claim to run, what is configured, and what this leader
remembers of its last round. Claims are trusted: nothing here knows whether a worker really stopped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rebalsim.assignors.connect.loads import Load, give_out, surplus
from rebalsim.assignors.connect.memory import Memory
from rebalsim.assignors.connect.round import (
    Answer,
    ConfigSnapshot,
    WorkerClaim,
    WorkerShare,
    config_to_assign,
    mismatch,
)
from rebalsim.assignors.connect.work import NO_WORK, Work, all_of, configured
from rebalsim.domain.java_hash import hash_ordered

BACK_OFF_BASE = 40  # successive revocations wait 40, 40², 40³ … ms


@dataclass(frozen=True, slots=True)
class Generations:
    """The round under way, and the last one that this leader completed (-1: none)."""

    current: int
    last_completed: int


def assign(
    claims: Sequence[WorkerClaim],
    taken: ConfigSnapshot,
    memory: Memory,
    generations: Generations,
    now_ms: int,
    max_delay_ms: int,
    fresh: ConfigSnapshot | None = None,
) -> tuple[Answer, Memory]:
    """The answer to all workers, and what the leader remembers of it.

    `claims` stand in the order of the JoinGroup answer. With a config that nobody may use yet the
    memory stays as it was.
    """
    config = config_to_assign(claims, taken, fresh or taken)
    if config is None:
        return mismatch(claims), memory
    memory = _trusted(memory, generations)
    claimed = _in_hash_order(claims)
    everything = configured(config.tasks_of)
    active = all_of(claimed.values())
    memory = _revocation_checked(memory, active)
    deleted = memory.previous.without(everything)
    lost = _sorted(memory.previous.without(active).without(deleted))
    created = everything.without(memory.previous).without(active)

    unwanted = deleted.then(_twice(claimed))
    taken_away = {w: work.within(unwanted) for w, work in claimed.items()}
    loads = [Load.of(w, work.without(taken_away[w])) for w, work in claimed.items()]
    memory, to_give = _lost_work(memory, lost, loads, now_ms, max_delay_ms)
    memory, evened = _evened_out(memory, everything, loads, now_ms, max_delay_ms)
    give_out(loads, created.then(to_give))

    revoked = {w: taken_away[w].then(evened.get(w, NO_WORK)) for w in claimed}
    shares = {
        load.worker: WorkerShare(
            load.work().without(claimed[load.worker].without(deleted)), revoked[load.worker]
        )
        for load in loads
    }
    answer = Answer(config.offset, shares, memory.delay_ms)
    return answer, _remembered(memory, loads, revoked, lost, generations.current)


def _trusted(memory: Memory, generations: Generations) -> Memory:
    """What is remembered of a round that was not the last one completed counts for nothing."""
    if memory.previous_generation == generations.last_completed:
        return memory
    return replace(memory, previous=NO_WORK)


def _in_hash_order(claims: Sequence[WorkerClaim]) -> dict[str, Work]:
    works = {claim.worker_id: claim.work for claim in claims}
    return {worker: works[worker] for worker in hash_ordered(works)}


def _revocation_checked(memory: Memory, active: Work) -> Memory:
    """Who still claims what was revoked has not had the last answer: begin from what is claimed."""
    revoked = memory.previous_revocation
    if not revoked:
        return memory
    still = set(revoked.connectors) & set(active.connectors) or set(revoked.tasks) & set(
        active.tasks
    )
    return replace(
        memory, previous_revocation=NO_WORK, previous=active if still else memory.previous
    )


def _sorted(work: Work) -> Work:
    return Work(tuple(sorted(work.connectors)), tuple(sorted(work.tasks)))


def _twice(claimed: Mapping[str, Work]) -> Work:
    """What more than one worker runs."""
    connectors = Counter(c for work in claimed.values() for c in work.connectors)
    tasks = Counter(t for work in claimed.values() for t in work.tasks)
    return Work(
        tuple(c for c, n in connectors.items() if n > 1),
        tuple(t for t, n in tasks.items() if n > 1),
    )


def _lost_work(
    memory: Memory, lost: Work, loads: Sequence[Load], now_ms: int, max_delay_ms: int
) -> tuple[Memory, Work]:
    """What becomes of work that nobody claims any more: it waits for its worker, or is given out.

    Hands back what is to be given out as if it were new; candidates get theirs here.
    """
    if not lost and not memory.revoked_in_previous:
        return memory.without_delay(), NO_WORK
    nobody_left = memory.previous_members <= {load.worker for load in loads}
    if (memory.scheduled_ms <= 0 and nobody_left) or max_delay_ms == 0:
        return memory, lost
    if 0 < memory.scheduled_ms <= now_ms:
        to_give = _to_candidates(memory.candidates, lost, loads)
        return replace(memory.without_delay(), revoked_in_previous=False), to_give
    idle = hash_ordered([load.worker for load in loads if not load])
    left = memory.scheduled_ms - now_ms
    delay = min(left, max_delay_ms) if left > 0 else max_delay_ms
    waiting = replace(
        memory,
        candidates=tuple(dict.fromkeys([*memory.candidates, *idle])),
        delay_ms=delay,
        scheduled_ms=now_ms + delay,
    )
    return waiting, NO_WORK


def _to_candidates(candidates: Sequence[str], lost: Work, loads: Sequence[Load]) -> Work:
    """The delay is over: whoever was idle while it ran gets the lost work in turn, whatever it
    has by now. Hands the work back where no such worker is left.
    """
    by_id = {load.worker: load for load in loads}
    present = [by_id[worker] for worker in candidates if worker in by_id]
    if not present:
        return lost
    for i, connector in enumerate(lost.connectors):
        present[i % len(present)].connectors[connector] = None
    for i, task in enumerate(lost.tasks):
        present[i % len(present)].tasks[task] = None
    return NO_WORK


def _evened_out(
    memory: Memory, everything: Work, loads: Sequence[Load], now_ms: int, max_delay_ms: int
) -> tuple[Memory, dict[str, Work]]:
    """Which work is revoked so that the load evens out; nothing while a delay runs. It is taken
    from the loads here.
    """
    if memory.delay_ms:
        return replace(memory, revoked_in_previous=False), {}
    over = surplus(loads, everything)
    if not over:
        if memory.revoked_in_previous:
            memory = replace(memory, revoked_in_previous=False, successive_revocations=0)
        return memory, {}
    if memory.revoked_in_previous:
        times = memory.successive_revocations + 1
        delay = back_off_ms(times, max_delay_ms)
        memory = replace(memory, successive_revocations=times, delay_ms=delay)
        if delay:
            return replace(memory, scheduled_ms=now_ms + delay), {}
    else:
        memory = replace(memory, revoked_in_previous=True)
    for load in loads:
        load.drop(over.get(load.worker, NO_WORK))
    return memory, over


def back_off_ms(times: int, max_delay_ms: int) -> int:
    """How long a revocation waits that would be the second, third … in a row."""
    if max_delay_ms == 0:
        return 0
    most = math.log(max_delay_ms) / math.log(BACK_OFF_BASE) if max_delay_ms > 1 else 0.0
    return int(BACK_OFF_BASE ** min(times, most))


def _remembered(
    memory: Memory, loads: Sequence[Load], revoked: Mapping[str, Work], lost: Work, generation: int
) -> Memory:
    gone = all_of(revoked.values())
    running = all_of(load.work() for load in loads).without(gone)
    return replace(
        memory,
        previous=running.then(lost),
        previous_revocation=memory.previous_revocation.then(gone),
        previous_generation=generation,
        previous_members=frozenset(revoked),
    )
