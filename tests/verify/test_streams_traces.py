"""Recordings of real Kafka Streams applications: replayed, the same tasks move to the same
instances; and the judge finds what was tampered with.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rebalsim.cli.verify import command
from rebalsim.simulation.streams.play import play
from rebalsim.verify.recognise import recognise
from rebalsim.verify.streams_judge import judge, total
from rebalsim.verify.streams_prediction import prediction_of
from rebalsim.verify.streams_replay import acts_of, application_of, known_of
from rebalsim.verify.streams_traces import load, verify

FOLDER = Path(__file__).parents[1] / "reality" / "streams" / "traces"
FILES = sorted(FOLDER.glob("*.json.gz"))
# how many of its pauses come within max(100 ms, 5 %) of the recorded ones
WITHIN = {
    "crash-standby": 2,
    "rolling-dynamic": 6,
    "scale-out-stateless-streams": 4,
    "slow-restore-poll": 1,
    "upgrade-2.3-on-old-state": 10,
    "upgrade-2.3-to-3.9": 14,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_same_tasks_move_to_the_same_instances(path: Path) -> None:
    finding = verify(path)
    assert recognise(path) == finding.kind == "streams-trace"
    figures = finding.document
    assert figures["same_moves"] == figures["recordings"] == 1
    assert figures["assignments_same"] == figures["threads"]
    assert figures["states_same"] == figures["instances"] and figures["rounds_same"] == 1
    assert figures["within"] >= WITHIN.get(path.name.removesuffix(".json.gz"), 0)


def replayed(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    document = load(FOLDER / f"{name}.json.gz")
    horizon = int(document["end"] * 1000)
    played = play(application_of(document), acts_of(document), horizon, known=known_of(document))
    return document, prediction_of(played)


def test_a_replay_gives_the_same_bytes_each_time() -> None:
    assert json.dumps(replayed("rolling-dynamic")) == json.dumps(replayed("rolling-dynamic"))


def test_a_pause_that_is_missing_counts_as_none_at_all() -> None:
    document, prediction = replayed("rolling-dynamic")
    whole = judge(document, prediction)
    less = judge(document, {**prediction, "pauses": []})
    assert whole.within >= 5 and less.within == 0
    assert all(gap.ours == 0 for gap in less.gaps)


def test_a_pause_that_never_was_counts_against() -> None:
    document, prediction = replayed("rolling-dynamic")
    more = copy.deepcopy(prediction)
    more["pauses"].append({"partition": "t-0", "start": 10_000, "end": 15_000})
    before, after = judge(document, prediction), judge(document, more)
    assert len(after.gaps) == len(before.gaps) + 1 and after.within == before.within


def test_a_task_at_another_instance_is_another_move() -> None:
    document, prediction = replayed("crash-standby")
    changed = copy.deepcopy(prediction)
    changed["running"][0]["member"] = "c9"
    assert judge(document, prediction).same_moves and not judge(document, changed).same_moves


def test_totals_weigh_recordings_alike() -> None:
    document, prediction = replayed("rolling-dynamic")
    right = judge(document, prediction)
    wrong = judge(document, {**prediction, "pauses": []})
    figures = total([right, wrong])
    assert figures["recordings"] == 2 and figures["pauses"] == len(right.gaps) * 2
    assert figures["percent_mean_of_recordings"] == pytest.approx(
        50 * right.within / len(right.gaps), abs=0.1
    )


def test_the_prediction_is_written_in_the_judges_format(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    verify(FOLDER / "crash-standby.json.gz", out=path)
    written = json.loads(path.read_text())
    assert set(written) == {"pauses", "running"}
    assert set(written["pauses"][0]) == {"partition", "start", "end"}
    assert set(written["running"][0]) == {"t", "member", "task"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda document: document.update(end=10**12),
        lambda document: document["topics"].update(t=0),
        lambda document: document["conf"].update({"x.topology": "stateful:nothing"}),
        lambda document: document["conf"].update({"heartbeat.interval.ms": 0}),
        lambda document: document["conf"].update({"num.stream.threads": 10**9}),
        lambda document: document["events"].append({"t": "soon"}),
        lambda document: document["conf"].update({"commit.interval.ms": "often"}),
        lambda document: document.pop("steps"),
    ],
)
def test_a_broken_file_ends_with_what_is_wrong(damage: Any, tmp_path: Path) -> None:
    document = load(FOLDER / "slow-restore-poll.json.gz")
    damage(document)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    result = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert result.return_value == 2 and "Traceback" not in result.output


def test_the_header_says_who_deals_the_tasks_and_in_which_tags_standbys_differ() -> None:
    document = load(FILES[0])
    conf = document["conf"]
    assert application_of(document).assignor == "streams-ha"
    conf["task.assignor.class"] = "org.apache.kafka.streams.processor.assignment.assignors.Sticky…"
    conf["rack.aware.assignment.tags"] = "zone, cluster"
    conf["client.tag.zone"] = "a"
    application = application_of(document)
    assert application.assignor == "streams-sticky"
    assert application.assigning.tags == ("zone", "cluster")
    start = next(act for act in acts_of(document) if act.deed == "start")
    assert start.settings is not None and start.settings.tags == {"zone": "a"}
