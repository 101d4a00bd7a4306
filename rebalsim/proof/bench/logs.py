"""How fast logs are read: against what Python needs to read the same lines and search them for one
string, and on Spark's two cores against one process. Both in one run, in turns.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rebalsim.proof.bench.figure import Figure
from rebalsim.scenario.load import stock_folder
from rebalsim.worlds.logs.sources import Source, sources_in
from rebalsim.worlds.logs.streams import Census, Reader
from rebalsim.worlds.logs.tables import facts_in_file

SOUGHT = "Preparing to rebalance group"
FLOOR, GOAL, SPARK_GOAL = 0.1, 0.2, 1.4
FILES = 8
OTHERS = 9  # lines of the application for each of Kafka's, as INFO has them
_ORDINARY = (
    b"[2026-09-21 15:38:47,309] INFO order 7341 was priced at 12.90 EUR in 4 ms, and passed on to "
    b"shipping; 118 are waiting (com.example.orders.OrderService)\n"
)


def measure(quick: bool = False, path: str = "", spark: bool = False) -> list[Figure]:
    """The ratios over the logs at `path`, or over those of the shipped incidents, many times."""
    with _logs(path, 8 if quick else 40) as place:
        sources = sources_in([place])
        found = [_alone(sources, 2 if quick else 5)]
        return [*found, *_on_spark(place, sources)] if spark else found


def _alone(sources: list[Source], turns: int) -> Figure:
    """One process: each takes its turn, and the best of each counts."""
    plain, ours = 9e9, 9e9
    for _ in range(turns):
        plain = min(plain, _timed(time.process_time, lambda: _search(sources)))
        ours = min(ours, _timed(time.process_time, lambda: _parse(sources)))
    name = "logs parsed by one process, as Python searches them"
    size = sum(s.path.stat().st_size for s in sources if s.path is not None) / 1e6
    note = f"{ours:.2f} s against {plain:.2f} s, {size:,.0f} MB"
    return Figure(name, plain / ours, "×", FLOOR, is_most=False, goal=GOAL, note=note)


def _on_spark(place: str, sources: list[Source]) -> list[Figure]:
    """Two cores, and what the JVM costs before anything is read."""
    from rebalsim.spark.observe import facts_below
    from rebalsim.spark.session import start_session, stop_session

    def read() -> None:
        facts_below(spark, place).write.format("noop").mode("overwrite").save()

    plain = _timed(time.perf_counter, lambda: _facts(sources))
    begun = time.perf_counter()
    spark = start_session("local[2]")
    try:
        started = time.perf_counter() - begun
        first, again = _timed(time.perf_counter, read), _timed(time.perf_counter, read)
    finally:
        stop_session(spark)
    plain = min(plain, _timed(time.perf_counter, lambda: _facts(sources)))
    note = f"{again:.1f} s against {plain:.1f} s; {first:.1f} s at first"
    name = "logs into facts on two cores of Spark, as one process"
    return [
        Figure(name, plain / again, "×", None, is_most=False, goal=SPARK_GOAL, note=note),
        Figure("Spark's start", started, "s"),
    ]


def _timed(clock: Callable[[], float], work: Callable[[], object]) -> float:
    begun = clock()
    work()
    return clock() - begun


def _search(sources: list[Source]) -> int:
    """What Python itself needs: each line, and one fixed string."""
    found = 0
    for source in sources:
        assert source.path is not None
        with source.path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if SOUGHT in line:
                    found += 1
    return found


def _parse(sources: list[Source]) -> int:
    census = Census()
    for source in sources:
        Reader(source.name, source.host, {}, census).read_all(source.chunks())
    return census.lines


def _facts(sources: list[Source]) -> int:
    return sum(1 for s in sources for _ in facts_in_file(s.name, s.chunks()))


@contextmanager
def _logs(path: str, times: int) -> Iterator[str]:
    """A place with plain logs: the one that was asked for, or one filled with what ships."""
    if path:
        yield path
        return
    shipped = sorted((stock_folder() / "incidents").rglob("*.gz"))
    kafka = b"".join(gzip.decompress(file.read_bytes()) for file in shipped).splitlines()
    text = b"".join(line + b"\n" + _ORDINARY * OTHERS for line in kafka)
    with TemporaryDirectory() as folder:
        for number in range(FILES):
            (Path(folder) / f"part-{number}.log").write_bytes(text * max(1, times // FILES))
        yield folder
