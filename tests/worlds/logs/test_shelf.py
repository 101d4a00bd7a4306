"""A long file's facts are put away while it is read, and come to the same rows."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalsim.worlds.logs import shelf, sources
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.tables import facts_in_file

INCIDENTS = Path(__file__).parents[3] / "scenarios" / "incidents"


def rows(path: Path) -> list[tuple[object, ...]]:
    return sorted(facts_in_file("app.log", Source("app.log", "app.log", path).chunks()), key=str)


@pytest.mark.parametrize("incident", sorted(p.name for p in INCIDENTS.iterdir() if p.is_dir()))
def test_what_was_put_away_comes_back_as_it_was(
    incident: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [gzip.decompress(p.read_bytes()) for p in sorted((INCIDENTS / incident).rglob("*.gz"))]
    (tmp_path / "app.log").write_bytes(b"".join(texts))
    monkeypatch.setattr(sources, "PIECE", 4_096)
    at_once = rows(tmp_path / "app.log")
    put: list[str] = []
    monkeypatch.setattr(shelf, "MOST_AT_HAND", 20)
    monkeypatch.setattr(shelf, "packed", lambda f, packed=shelf.packed: put.append("") or packed(f))
    assert rows(tmp_path / "app.log") == at_once
    assert len(put) > len(at_once) // 2


def test_whose_a_fact_is_a_later_line_may_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PIECE", 512)
    monkeypatch.setattr(shelf, "MOST_AT_HAND", 1)
    head = "[2026-11-19 08:00:{:02d},000] INFO "
    closed = head + "App info kafka.consumer for c unregistered (x.AppInfoParser)\n"
    joins = head + "[Consumer clientId=c, groupId=orders] (Re-)joining group (x.Y)\n"
    lines = [closed.format(n) for n in range(20)] + [joins.format(30)]
    (tmp_path / "app.log").write_text("".join(lines))
    assert [row[0] for row in rows(tmp_path / "app.log")] == ["orders"] * 21


def test_a_file_of_any_length_takes_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "MOST_AT_HAND", 100)
    monkeypatch.setattr(shelf, "IN_MEMORY", 4_096)
    line = (
        "[2026-11-19 08:00:{:02d},{:03d}] INFO [Consumer clientId=c, groupId=orders] "
        "Adding newly assigned partitions: t-{} (x.Y)"
    )

    def chunks(count: int) -> Iterator[list[str]]:
        for begin in range(0, count, 50):
            places = range(begin, begin + 50)
            yield [line.format(n // 1_000, n % 1_000, n % 9) for n in places]

    def peak(count: int) -> int:
        tracemalloc.start()
        assert sum(1 for _ in facts_in_file("app.log", chunks(count))) == count
        at_most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return at_most

    peak(1_000)  # what was met is remembered, up to a bound
    assert peak(6_000) < peak(1_000) * 1.4
