"""A night on which nothing stood still has something to tell all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.incident.told import NOTHING

U = "576da3a1-e5fd-420c-9a03-505dabad0781"


def line(ms: int, client: str, text: str) -> str:
    seconds, rest = divmod(ms, 1_000)
    stamp = f"[2026-01-05 10:00:{seconds:02d},{rest:03d}]"
    return f"{stamp} INFO [Consumer instanceId=i<b>, clientId={client}, groupId=g] {text} (x.Y)"


def joins(ms: int, client: str) -> list[str]:
    generation = f"Generation{{generationId=1, memberId='i<b>-{U}', protocol='range'}}"
    return [
        line(ms, client, "Discovered group coordinator h:9092 (id: 1 rack: null)"),
        line(ms + 10, client, "(Re-)joining group"),
        line(ms + 20, client, f"Successfully joined group with generation {generation}"),
        line(ms + 30, client, "Adding newly assigned partitions: [t-0]"),
    ]


LOST = "Group coordinator h:9092 (id: 1 rack: null) is unavailable or invalid due to cause: x"
FOUND = "Discovered group coordinator other:9092 (id: 2 rack: null)"
FENCED = "Caught fenced group.instance.id Optional[i<b>] error in heartbeat thread"


def told(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert code_of(["incident", *args]) == 0
    return capsys.readouterr().out


def test_a_fenced_twin_and_a_lost_coordinator_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(
        "\n".join(
            [
                *joins(0, "c"),
                line(20_000, "c", LOST),
                line(20_170, "c", FOUND),
                line(40_500, "c", FENCED),
            ]
        )
    )
    (tmp_path / "b.log").write_text("\n".join(joins(40_000, "c")))
    page = tmp_path / "night.html"
    assert told(capsys, str(tmp_path / "a.log"), str(tmp_path / "b.log"), "--html", str(page)) == (
        f"{NOTHING}\n"
        "At 10:00:40.500 UTC a was fenced: b had come with its group.instance.id i<b>, in group g.\n"
        "At 10:00:20.000 UTC a lost the coordinator of group g; they had found one again after 170 ms.\n"
    )
    assert "<b>" not in page.read_text()


def test_of_a_coordinator_that_nobody_found_again_no_length_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("\n".join([*joins(0, "c"), line(20_000, "c", LOST)]))
    text = told(capsys, str(tmp_path))
    assert text.endswith(
        "lost the coordinator of group g; not all of them found one again in these logs.\n"
    )
