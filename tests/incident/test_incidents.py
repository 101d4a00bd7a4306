"""Recorded incidents: what is told of them, the scenario they become, and how that replays."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.incident.disturbance import disturbances_of
from rebalsim.incident.investigate import investigate
from rebalsim.incident.lives import _own
from rebalsim.incident.replay import story_in
from rebalsim.incident.spelling import played_name
from rebalsim.incident.told import happened, prevented, render
from rebalsim.reports.observed import render as observed_render
from rebalsim.worlds.logs.observation import Observation, observe
from rebalsim.worlds.logs.sources import sources_in

FOLDER = Path(__file__).parents[2] / "scenarios" / "incidents"
STORIES = sorted(p.name for p in FOLDER.iterdir())
Golden = Callable[[str, str], None]


def observed(name: str) -> Observation:
    return observe(sources_in([str(FOLDER / name)]))


@pytest.mark.parametrize("name", STORIES)
def test_what_was_observed_is_told_as_before(name: str, golden: Golden) -> None:
    golden(f"incidents/{name}.txt", observed_render(observed(name)))


@pytest.mark.parametrize("name", STORIES)
def test_every_partition_second_has_a_cause(name: str) -> None:
    for story in observed(name).groups.values():
        found = disturbances_of(story)
        assert sum(len(d.pauses) for d in found) == len(story.pauses)
        for d in found:
            told = sum(d.length_us(p) for _, ps in d.by_cause() for p in ps)
            assert told == d.cost_us


@pytest.mark.slow
def test_a_deploy_replays_as_it_was_and_what_helps_was_tried() -> None:
    first = investigate(observed("deploy-last-night"), events=60_000)[0]
    assert first.held is not None
    assert first.held.is_believed
    assert "orders-1 left" in happened(first)
    assert prevented(first).startswith(("What would have helped", "Nothing that was tried"))
    assert "replayed: " in render([first])


def test_a_coordinators_log_alone_tells_who_began_it_and_that_no_log_tells_what_stood_still() -> (
    None
):
    logs = [str(p) for p in sorted((FOLDER / "deploy-last-night").glob("broker*"))]
    alone = observe(sources_in(logs))
    (first,) = investigate(alone)
    assert happened(first).endswith("; which partitions stood still, no log tells.")
    assert " left, and group orders was held up for " in happened(first)
    assert prevented(first) == (
        "What would have prevented it is not told: no member's log is at hand, so there is nothing to "
        "play."
    )
    assert all(d.rounds[0].generation > 1 for d in first.disturbances)  # its forming is no incident
    assert "pauses unknown" in observed_render(alone)


@pytest.mark.slow
def test_a_storm_that_does_not_replay_is_not_advised_on() -> None:
    first = investigate(observed("storm-last-night"))[0]
    assert first.held is not None
    if not first.held.is_believed:
        assert first.remedies == ()
        assert "too few to draw conclusions from" in prevented(first)


def test_the_scenario_is_one_to_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "night.yaml"
    line = [
        "incident",
        str(FOLDER / "crash-last-night"),
        "--advise",
        "off",
        "--scenario",
        str(path),
    ]
    assert code_of(line) == 0
    story = story_in(path.read_text(encoding="utf-8"))
    assert len(story.scenario("as-written").groups[0].consumers) == 5
    assert "crash: pay-3" in path.read_text(encoding="utf-8")
    capsys.readouterr()
    assert code_of(["run", str(path)]) == 0


def test_a_stock_incident_has_a_name_a_page_and_a_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "night.html"
    assert code_of(["incident", "crash-last-night", "--advise", "off", "--html", str(page)]) == 0
    assert "the session of pay-3 ran out" in capsys.readouterr().out
    assert "the session of pay-3 ran out" in page.read_text(encoding="utf-8")
    assert code_of(["incident", "crash-last-night", "--advise", "off", "--json"]) == 0
    assert '"believed": ' in capsys.readouterr().out


def test_the_page_says_first_what_happened_and_then_what_would_have_helped(tmp_path: Path) -> None:
    page = tmp_path / "night.html"
    assert code_of(["incident", "crash-last-night", "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    first, second, third = re.findall(r'<h1>(.*?)</h1>|<p class="lead">(.*?)</p>', text)[:3]
    assert "the session of pay-3 ran out" in first[0]
    assert second[1].startswith("What would have helped, tried on its replay: session.timeout.ms")
    assert third[1] == "Replayed: 4 of 4 pauses within 10 % (or 0.1 s)."
    assert "(100 %) because the session of pay-3 ran out</li>" in text
    assert "never be read" not in text  # of the replay, which assumes where owners begin


def test_an_anonymised_page_has_no_name_of_the_logs(tmp_path: Path) -> None:
    page = tmp_path / "night.html"
    logs = str(FOLDER / "crash-last-night")
    asked = ["incident", logs, "--advise", "off", "--anonymise", "--html", str(page)]
    assert code_of(asked) == 0
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"pay-\d|payments|crash-last-night", text)


def test_who_held_everybody_up_is_said_first() -> None:
    """A member that left began it; the barrier, and with it the pause, is the last one's to join."""
    (first,) = investigate(observed("deploy-last-night"), events=0)
    assert " left, everybody waited 3.00 s for orders-2, and " in happened(first)
    (dead,) = investigate(observed("crash-last-night"), events=0)
    assert "everybody waited" not in happened(dead)
    assert "(it had been silent since about " in happened(dead)


def test_names_that_no_scenario_takes_are_played_under_others(tmp_path: Path) -> None:
    """A group's name is any text for Kafka, and so are a client's id and a file's name."""
    for file in sorted((FOLDER / "deploy-last-night").rglob("*.gz")):
        text = gzip.decompress(file.read_bytes()).replace(b"groupId=orders", b"groupId=urn:shop eu")
        text = text.replace(b" group orders ", b" group urn:shop eu ")
        text = text.replace(b"consumer-orders-", b"my client:")
        (tmp_path / f"a {file.name.removesuffix('.log.gz')} (1).log").write_bytes(text)
    (found,) = investigate(observe(sources_in([str(tmp_path)])), 0)
    assert found.story.name == "urn:shop eu"
    assert found.written is not None
    assert found.held is not None
    assert found.held.is_believed
    assert "  urn-shop-eu:" in found.written.text


def test_names_that_come_to_the_same_are_told_apart() -> None:
    taken: set[str] = set()
    assert [_own(played_name(name), taken) for name in ("a b", "a/b", "é", "-")] == [
        "a-b",
        "a-b-2",
        "_-",
        "_--2",
    ]
