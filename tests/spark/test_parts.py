"""What of a chunk is missing, and how a failed one is taken apart: without Spark."""

from __future__ import annotations

from rebalsim.scenario.grid import Slice
from rebalsim.spark.sweep import Sweep, _before_any_run, _parts


def missing(slices: list[Slice], *done: str) -> list[list[tuple[int, int]]]:
    sweep = Sweep.__new__(Sweep)
    sweep._done = dict.fromkeys(done)
    return [[(s.start, s.stop) for s in group] for group in sweep._missing("000003", slices)]


SLICES = [Slice(100, 110, 1.0), Slice(110, 120, 1.0), Slice(120, 140, 2.0)]


def test_a_chunk_is_missing_until_all_its_ranks_are_there() -> None:
    assert missing(SLICES) == [[(100, 110), (110, 120), (120, 140)]]
    assert missing(SLICES, "000003") == []
    assert missing(SLICES, "000030", "000002.100-140") == [[(100, 110), (110, 120), (120, 140)]]
    assert missing(SLICES, "000003.100-110", "000003.120-140") == [[(110, 120)]]
    assert missing(SLICES, "000003.110-125") == [[(100, 110)], [(125, 140)]]
    assert missing(SLICES, "000003.110-115", "000003.100-110") == [[(115, 120), (120, 140)]]
    assert missing(SLICES, "000003.100-112", "000003.112-113", "000003.113-140") == []


def test_a_failed_chunk_is_parted_around_the_task_that_failed() -> None:
    def ranks(parts: list[list[Slice]]) -> list[tuple[int, int]]:
        return [(p[0].start, p[-1].stop) for p in parts]

    assert ranks(_parts(SLICES, 1)) == [(100, 110), (120, 140), (110, 120)]
    assert ranks(_parts(SLICES, 0)) == [(110, 140), (100, 110)]
    assert ranks(_parts(SLICES, -1)) == [(100, 110), (120, 140), (110, 120)]
    assert ranks(_parts([SLICES[2]], 0)) == [(120, 130), (130, 140)]
    assert ranks(_parts([Slice(5, 7, 1.0)], 0)) == [(5, 6), (6, 7)]


def test_a_lost_planner_is_no_runs_fault() -> None:
    assert _before_any_run(RuntimeError("java.io.EOFException"))
    assert _before_any_run(
        RuntimeError("Python worker exited unexpectedly (crashed) at PythonPlannerRunner")
    )
    assert not _before_any_run(
        RuntimeError(
            "Task 3 in stage 1.0 failed 4 times: Python worker exited unexpectedly (crashed)"
        )
    )
    assert not _before_any_run(RuntimeError("java.io.EOFException: Answer from Java side is empty"))
    assert not _before_any_run(RuntimeError("No space left on device"))
