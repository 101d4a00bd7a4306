"""A file comes to the same facts in whatever pieces it is read: by one process, or line by line by many."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rebalsim.worlds.logs.tables import facts_in_file

INCIDENTS = Path(__file__).parents[3] / "scenarios" / "incidents"
STREAMS = (
    "[2026-11-19 08:00:0{n},000] INFO stream-client [app-1] State transition from CREATED to "
    "REBALANCING (org.apache.kafka.streams.KafkaStreams)"
)
CONSUMER = (
    "[2026-11-19 08:00:0{n},500] INFO [Consumer clientId=app-1-StreamThread-1-consumer, groupId=app] "
    "Adding newly assigned partitions: t-{n} (org.apache.kafka.clients.consumer.internals.X)"
)
CRI = "2026-11-19T08:00:0{n}.000000000Z stdout {flag} {part}"


def facts(lines: list[str], size: int) -> list[tuple[object, ...]]:
    chunks = [lines[i : i + size] for i in range(0, len(lines), size)]
    return list(facts_in_file("app.log", chunks))


def recorded() -> list[Path]:
    return sorted(INCIDENTS.rglob("*.log.gz"))[::3]


@pytest.mark.parametrize("path", recorded(), ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_recorded_log_in_pieces_is_the_same_log(path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    whole = facts(lines, len(lines))
    assert whole
    assert [facts(lines, size) for size in (997, 101)] == [whole, whole]


def test_a_dialect_that_speaks_late_counts_from_its_first_line_on() -> None:
    lines = [
        line.format(n=n)
        for n in range(6)
        for line in ((STREAMS, CONSUMER) if n != 3 else (CONSUMER, STREAMS))
    ]
    whole = facts(lines, len(lines))
    assert all(facts(lines, size) == whole for size in range(1, len(lines)))


def test_a_line_that_a_collector_cut_is_whole_across_pieces() -> None:
    long = CONSUMER.format(n=1)
    parts = [long[:60], long[60:110], long[110:]]
    flags = ["P", "P", "F"]
    lines = [CRI.format(n=1, flag=f, part=p) for f, p in zip(flags, parts)]
    whole = facts(lines, len(lines))
    assert any('"assigned"' in str(row[-1]) for row in whole)
    assert all(facts(lines, size) == whole for size in (1, 2))
