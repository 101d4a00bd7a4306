"""Logs that grow are read on, and come to what they come to at once."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from rebalsim.domain.errors import InputError
from rebalsim.worlds.logs import following, sources
from rebalsim.worlds.logs.following import Followed
from rebalsim.worlds.logs.observation import GroupStory, observe
from rebalsim.worlds.logs.sources import Source, sources_in

INCIDENTS = Path(__file__).parents[3] / "scenarios" / "incidents"
Known = dict[str, GroupStory]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PIECE", 4_096)


def look(followed: Followed, folder: Path, known: Known) -> set[str]:
    news = {story.name: story for story in followed.look(sources_in([str(folder)]))}
    known.update(news)
    return set(news)


def told(stories: Known) -> list[tuple[object, ...]]:
    return [
        (name, r.generation, r.begin_us, r.end_us, r.trigger.kind)
        for name, story in sorted(stories.items())
        for r in story.rounds
    ]


def at_once(folder: Path) -> list[tuple[object, ...]]:
    return told(observe(sources_in([str(folder)])).groups)


@pytest.mark.parametrize("incident", sorted(p.name for p in INCIDENTS.iterdir() if p.is_dir()))
def test_an_incident_that_grows_is_the_incident_at_once(incident: str, tmp_path: Path) -> None:
    texts = {
        path.name.removesuffix(".gz"): gzip.decompress(path.read_bytes())
        for path in sorted((INCIDENTS / incident).rglob("*.gz"))
    }
    random, followed, known = Random(21), Followed(), Known()
    at = dict.fromkeys(texts, 0)
    while any(at[name] < len(text) for name, text in texts.items()):
        for name, text in texts.items():
            size = random.randrange(len(text) // 2 + 1)
            with (tmp_path / name).open("ab") as file:
                file.write(text[at[name] : at[name] + size])
            at[name] += size
        look(followed, tmp_path, known)
        assert told(known) == at_once(tmp_path)
    assert told(known)


def joining(group: str, second: int) -> str:
    head = (
        f"[2026-11-19 08:00:{second:02d},000] INFO [Consumer clientId=c-{group}, groupId={group}]"
    )
    name = f"Generation{{generationId={second}, memberId='c-{group}-1', protocol='range'}}"
    return (
        f"{head} (Re-)joining group (x.Y)\n"
        f"{head} Successfully joined group with generation {name} (x.Y)\n"
        f"{head} Adding newly assigned partitions: t-{second} (x.Y)\n"
    )


def test_only_groups_of_which_something_came_are_told_anew(tmp_path: Path) -> None:
    followed, known = Followed(), Known()
    (tmp_path / "a.log").write_text(joining("one", 1))
    (tmp_path / "b.log").write_text(joining("two", 1))
    assert look(followed, tmp_path, known) == {"one", "two"}
    assert look(followed, tmp_path, known) == set()
    with (tmp_path / "b.log").open("a") as file:
        file.write(joining("two", 9))
    assert look(followed, tmp_path, known) == {"two"}


def test_a_grown_file_is_read_from_where_it_was_read_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins: list[int] = []
    pieces = Source.pieces

    def heard(self: Source, begin: int = 0, until: int | None = None) -> object:
        begins.append(begin)
        return pieces(self, begin, until)

    monkeypatch.setattr(Source, "pieces", heard)
    followed, path = Followed(), tmp_path / "a.log"
    path.write_text("".join(joining("one", n) for n in range(60)))
    look(followed, tmp_path, {})
    with path.open("a") as file:
        file.write(joining("one", 59))
    look(followed, tmp_path, {})
    assert begins[0] == 0
    assert len(begins) == 2
    assert begins[1] > path.stat().st_size - 3 * sources.PIECE


def test_a_rotated_log_is_one_log(tmp_path: Path) -> None:
    followed, known = Followed(), Known()
    (tmp_path / "a.log").write_text("".join(joining("one", n) for n in range(1, 31)))
    look(followed, tmp_path, known)
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    (tmp_path / "a.log").write_text(joining("one", 40))
    look(followed, tmp_path, known)
    assert told(known) == at_once(tmp_path)
    assert len(told(known)) == 31


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    followed, known = Followed(), Known()
    (tmp_path / "a.log").write_text("".join(joining("one", n) for n in range(30)))
    look(followed, tmp_path, known)
    (tmp_path / "a.log").write_text(joining("one", 50))
    look(followed, tmp_path, known)
    assert [r[1] for r in told(known)] == [50]


def test_what_cannot_be_read_is_said_once_and_at_first_refused(tmp_path: Path) -> None:
    (tmp_path / "photo.log").write_bytes(bytes(range(256)) * 20)
    with pytest.raises(InputError, match="is binary"):
        Followed().look(sources_in([str(tmp_path)]))
    (tmp_path / "a.log").write_text(joining("one", 1))
    followed = following.Followed()
    for _ in range(3):
        look(followed, tmp_path, {})
        (tmp_path / "photo.log").write_bytes(bytes(range(256)) * 21)
    assert len(followed.notes) == 1
