"""Files as other programs leave them: wide text, several without zones, one that is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rebalsim.worlds.logs.observation import Observation, observe
from rebalsim.worlds.logs.sources import sources_in

LINES = "".join(
    f"[2026-11-19 08:00:{n:02d},000] INFO [Consumer clientId=c, groupId=zählung] {text} (x.Y)\n"
    for n, text in enumerate(("(Re-)joining group", "Adding newly assigned partitions: t-0") * 9)
)


def read(*files: Path) -> Observation:
    return observe(sources_in([str(file) for file in files]))


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_wide_text_is_read_as_powershell_writes_it(
    order: str, packed: bool, tmp_path: Path
) -> None:
    wide = ("\ufeff" + LINES * 60).encode(order)
    (tmp_path / "app.log").write_bytes(gzip.compress(wide) if packed else wide)
    (tmp_path / "plain.log").write_text(LINES * 60, encoding="utf-8")
    found = read(tmp_path / "app.log")
    assert found.census.lines == 18 * 60
    (voice,), (plain,) = (o.groups["zählung"].voices for o in (found, read(tmp_path / "plain.log")))
    assert [(f.at_us, f.what) for f in voice.facts] == [(f.at_us, f.what) for f in plain.facts]


def test_wide_text_that_ends_in_the_middle_of_a_letter_is_read(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_bytes(("\ufeff" + LINES).encode("utf-16-le")[:-3])
    assert "zählung" in read(tmp_path / "app.log").groups


def test_what_is_assumed_of_many_files_is_said_once(tmp_path: Path) -> None:
    files = [tmp_path / f"app-{n}.log" for n in range(9)]
    for file in files:
        file.write_text(LINES, encoding="utf-8")
    (note,) = read(*files).notes
    assert note.startswith("app-0.log, app-1.log and 7 more: their times have no zone;")


def test_a_cut_file_is_named_once(tmp_path: Path) -> None:
    whole = gzip.compress(LINES.encode() * 900)
    (tmp_path / "app.log.gz").write_bytes(whole[: len(whole) // 2])
    note = read(tmp_path / "app.log.gz").notes[0]
    assert note.startswith("app.log.gz: is cut or damaged (the file ends in the middle); read")
