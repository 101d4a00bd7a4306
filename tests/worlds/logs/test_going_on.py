"""A file that grows comes to the same facts as when it is read at once, whenever one looks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rebalsim.worlds.logs import going_on, sources
from rebalsim.worlds.logs.bookmarks import Bookmark
from rebalsim.worlds.logs.going_on import Stretch, read_on
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.tables import facts_in_file

INCIDENTS = Path(__file__).parents[3] / "scenarios" / "incidents"
Row = tuple[Any, ...]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PIECE", 4_096)


class Kept:
    """The facts of one file as a table of them is kept, and its bookmark."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Row] = []
        self.bookmark = ""
        self.wholes = 0

    def read(self) -> Stretch:
        mark = Bookmark.from_json(self.bookmark) if self.bookmark else None
        found = read_on(Source("app.log", "app.log", self.path), self.path.stat().st_size, mark)
        self.rows = [] if found.is_whole else [r for r in self.rows if not _goes(r, found)]
        self.rows += found.rows
        self.bookmark = found.bookmark.to_json() if found.bookmark is not None else ""
        self.wholes += found.is_whole
        return found

    def at_once(self) -> list[Row]:
        return _told(facts_in_file("app.log", Source("app.log", "app.log", self.path).chunks()))

    def told(self) -> list[Row]:
        return _told(self.rows)


def _goes(row: Row, found: Stretch) -> bool:
    source, place = row[4], row[5]
    return source not in found.places or place >= found.places[source][0]


def _told(rows: Any) -> list[Row]:
    """As a group's story takes them: by place, the clock as the last of a stream tells it."""
    ordered = sorted(rows, key=lambda r: (r[4], r[5], r[0]))
    clocks = {r[4]: r[6] for r in ordered}
    return [(*r[:6], clocks[r[4]], *r[7:]) for r in ordered]


def recorded() -> list[Path]:
    return sorted(INCIDENTS.rglob("*.log.gz"))


def grown(path: Path, text: bytes, seed: int, kept: Kept) -> None:
    """The text added bit by bit, half lines too; each time what is kept is what is told at once."""
    random, at = Random(seed), 0
    while at < len(text):
        size = random.choice((1, 50, 900, 5_000, 30_000))
        with path.open("ab") as file:
            file.write(text[at : at + size])
        at += size
        kept.read()
        assert kept.told() == kept.at_once()


@pytest.mark.parametrize("log", recorded(), ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_recorded_log_that_grows_is_the_log_at_once(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    kept = Kept(path)
    grown(path, gzip.decompress(log.read_bytes())[:120_000], 21, kept)
    assert kept.rows


JAVA = (
    "[2026-11-19 08:{m:02d}:{s:02d},{n:03d}] INFO [Consumer clientId={c}, groupId={g}] Adding newly "
    "assigned partitions: t-{n} (org.apache.kafka.clients.consumer.internals.X)\n"
)
DULL = "[2026-11-19 08:{m:02d}:{s:02d},{n:03d}] INFO order {n} was priced (com.example.Orders)\n"


def lines(count: int, client: str = "c", group: str = "orders", since: int = 0) -> str:
    told = []
    for n in range(since, since + count):
        form = JAVA if n % 7 == 0 else DULL
        told.append(form.format(m=n // 60 % 60, s=n % 60, n=n % 1000, c=client, g=group))
    return "".join(told)


def test_a_long_log_is_read_on_and_not_again(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(lines(400))
    kept = Kept(path)
    kept.read()
    with path.open("a") as file:
        file.write(lines(30))
    found = kept.read()
    assert not found.is_whole
    assert found.places[""][0] > 50  # facts that were not told again
    assert kept.told() == kept.at_once()


def test_what_tells_more_of_former_facts_is_told_of_them_too(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    closed = (
        "[2026-11-19 08:00:00,000] INFO App info kafka.consumer for late unregistered (x.AppInfo)\n"
    )
    path.write_text(closed + lines(400))
    kept = Kept(path)
    kept.read()
    with path.open("a") as file:
        file.write(lines(8, "late", "payments", since=400))
    assert kept.read().is_whole
    assert kept.told() == kept.at_once()
    assert {row[0] for row in kept.rows if "late" in row[-1]} == {"payments"}


def test_a_day_that_is_told_late_is_that_of_the_lines_before(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    undated = lines(400).replace("[2026-11-19 ", "").replace("] INFO", " INFO")
    path.write_text(undated)
    kept = Kept(path)
    kept.read()
    with path.open("a") as file:
        file.write(lines(9))
    kept.read()
    assert kept.told() == kept.at_once()


@pytest.mark.parametrize("then", ["shorter", "other", "longer"])
def test_a_file_that_was_truncated_or_rotated_is_begun_anew(tmp_path: Path, then: str) -> None:
    path = tmp_path / "app.log"
    path.write_text(lines(400))
    kept = Kept(path)
    kept.read()
    new = {"shorter": 20, "other": 400, "longer": 900}[then]
    path.write_text(lines(new, "other-client"))
    assert kept.read().is_whole
    assert kept.told() == kept.at_once()


def test_lines_of_several_processes_and_lines_that_a_collector_cut(tmp_path: Path) -> None:
    random, told = Random(3), []
    for n in range(700):
        pod = random.choice(("a", "b", "c")) if n < 500 else "c"
        text = lines(n + 1, f"c{pod}").splitlines()[n]
        told.append(f"[pod/orders-{pod}/app] {text}\n")
    path = tmp_path / "app.log"
    kept = Kept(path)
    grown(path, "".join(told).encode(), 5, kept)
    assert len({row[4] for row in kept.rows}) == 3


def test_one_process_after_another_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    kept = Kept(path)
    begins = (
        "[2026-11-19 08:00:00,000] INFO Kafka version: 4.3.1 (org.apache.kafka.AppInfoParser)\n"
    )
    text = "".join(begins + lines(200, client) for client in ("one", "two", "three"))
    grown(path, text.encode(), 8, kept)
    assert len({row[4] for row in kept.rows}) > 1


def test_a_packed_or_binary_file_has_no_bookmark(tmp_path: Path) -> None:
    for name, data in (("a.log", gzip.compress(lines(900).encode())), ("b.log", bytes(9_000))):
        path = tmp_path / name
        path.write_bytes(data)
        found = read_on(Source(name, name, path), path.stat().st_size, None)
        assert found.is_whole and found.bookmark is None


def test_a_bookmark_is_plain_json_and_small(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(lines(6_000))
    kept = Kept(path)
    kept.read()
    assert isinstance(json.loads(kept.bookmark), dict)
    assert len(kept.bookmark) < 40_000
    assert going_on.read_on(Source("app.log", "app.log", path), 1_000, None).bookmark is None
