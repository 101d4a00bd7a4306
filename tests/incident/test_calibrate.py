"""What logs measure: an overlay that loads, and the answers to what a scenario asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rebalsim.cli.main import code_of
from rebalsim.incident.answers import answered
from rebalsim.incident.calibrate import Calibration, calibrate, overlay
from rebalsim.incident.replay import story_in
from rebalsim.worlds.logs.observation import observe
from rebalsim.worlds.logs.sources import sources_in

DEPLOY = Path(__file__).parents[2] / "scenarios" / "incidents" / "deploy-last-night"
STUCK_FOR_MS = 21_000  # as the recording's script has it, of which 12 s until it was missed
STORY = """\
topics: {orders: {partitions: 12}}
group: {members: 3}
replay:
  - as-written
  - """


def calibrated(folder: Path = DEPLOY) -> Calibration:
    return calibrate(list(observe(sources_in([str(folder)])).groups.values()))


def test_the_overlay_is_a_variant_with_sample_counts() -> None:
    text = overlay(calibrated())
    assert "6 samples" in text
    assert "pauses of the second half" in text
    told = [line for line in text.splitlines() if not line.startswith("#")]
    story = story_in(STORY + "\n    ".join(told) + "\n")
    assert story.variants == ("as-written", "calibrated")


def test_what_a_scenario_asks_for_is_answered_from_logs() -> None:
    text = (
        "topics:\n  orders:\n    partitions: 6     # ASK: how many\n    rate: 100/s     # ASK: rate\n"
        "groups:\n  orders:\n    members: 3\n    life:\n      start: 5s      # ASK: how long\n"
    )
    made, told = answered(text, calibrated())
    assert "partitions: 12     # measured: " in made
    assert "rate: 100/s     # ASK: rate" in made
    assert "# measured: 6 starts in the logs" in made
    assert len(told) == 2


def test_a_topic_that_was_assumed_has_its_real_name_and_a_handler_its_batches() -> None:
    text = (
        "topics:\n  a-topic:\n    partitions: 6     # ASK: how many\n"
        "groups:\n  orders:\n    members: 3\n    topics: [a-topic]   # ASK: which\n"
        "    handler:\n      per_record: 1ms   # ASK: how long\n"
    )
    made, told = answered(text, calibrated())
    assert "\n  orders:\n    partitions: 12 " in made
    assert "topics: [orders]   # ASK: which" in made
    assert "      per_batch: {median: " in made
    assert told[0] == "topics: [orders] (the one that is assigned in the logs)"
    kept = [line for line in made.splitlines() if not line.startswith("    members")]
    assert story_in("\n".join([*kept, "    members: 3", "replay: [as-written]"])).variants


def test_faults_are_told_with_their_rates() -> None:
    text = overlay(calibrated(DEPLOY.parent / "stuck-last-night"))
    found = re.search(r"#   - {kind: hang, about_every: \d+s, for: (\d+)ms}", text)
    assert found is not None
    assert abs(int(found[1]) - STUCK_FOR_MS) < 1_000, "until it came back, not until it was missed"


@pytest.mark.slow
def test_the_command_writes_what_it_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "measured.yaml"
    assert code_of(["calibrate", str(DEPLOY), "--out", str(out)]) == 0
    assert "calibrated:" in out.read_text(encoding="utf-8")
    assert "written" in capsys.readouterr().err


def test_how_fast_stores_were_restored_is_measured_in_records(tmp_path: Path) -> None:
    """All changelogs of one restoration together; without their records only its time is told."""
    u = "576da3a1-e5fd-420c-9a03-505dabad0781"
    name = f"app-{u}-StreamThread-1"
    lines = [
        f"[Consumer clientId={name}-consumer, groupId=app] (Re-)joining group",
        *(
            f"state-updater [app-{u}-StateUpdater-1] Finished restoring changelog app-s-changelog-{n} "
            f"to store s with a total number of {records} records"
            for n, records in ((0, 30_000), (1, 20_000))
        ),
        f"stream-thread [{name}] Restoration took 2500 ms for all active tasks [0_0, 0_1]",
        f"stream-thread [{name}] Restoration took 40 ms for all active tasks [0_2]",
    ]
    told = [f"[2026-01-05 10:00:0{n},000] INFO {line} (x.Y)" for n, line in enumerate(lines)]
    (tmp_path / "app.log").write_text("\n".join(told))
    text = overlay(calibrated(tmp_path))
    assert "Kafka Streams restored for 2500ms before a thread ran again: 2 samples" in text
    assert "# it restored 20,000 records a second: 1 sample; times a record's bytes" in text
