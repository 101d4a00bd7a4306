"""Jobs that several threads of a herder do side by side while its own thread waits: starting and
stopping work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.connect.port import NEVER, Port, Steps, Thread

THREADS = 8  # DistributedHerder.START_STOP_THREAD_POOL_SIZE

Job = Callable[[Callable[[], None]], None]  # begins, and calls what it was handed when it is done


def run_all(port: Port, thread: Thread, jobs: Sequence[Job], threads: int = THREADS) -> Steps:
    """Do all jobs, so many at a time; returns when the last one is done."""
    waiting = list(jobs)
    waiting.reverse()
    left = [len(jobs)]
    life = port.life

    def next_one() -> None:
        if waiting and port.life == life:
            waiting.pop()(done)

    def done() -> None:
        left[0] -= 1
        next_one()
        if not left[0]:
            thread.wake()

    for _ in range(min(threads, len(jobs))):
        next_one()
    while left[0]:
        yield from thread.wait(NEVER)


def bounded(port: Port, job: Job, most_us: int, late: Callable[[], None]) -> Job:
    """The job, given up after a time: then `late` is called, and it counts as done."""

    def begin(done: Callable[[], None]) -> None:
        is_over = [False]

        def ended() -> None:
            if not is_over[0]:
                is_over[0] = True
                done()

        def ran_out(_: object) -> None:
            if not is_over[0]:
                late()
                ended()

        port.at(port.now + most_us, ran_out)
        job(ended)

    return begin
