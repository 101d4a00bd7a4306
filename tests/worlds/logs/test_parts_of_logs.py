"""Logs whose parts or lives a number in the file's name tells apart."""

from __future__ import annotations

from reading_logs import source

from rebalsim.worlds.logs.facts import CALLS
from rebalsim.worlds.logs.observation import Observation, observe
from rebalsim.worlds.logs.voices import Voice

MEMBER = "consumer-g-1-576da3a1-e5fd-420c-9a03-505dabad0781"


def line(second: int, text: str) -> str:
    return f"[2026-01-05 10:00:{second:02d},000] INFO [Consumer clientId=consumer-g-1, groupId=g] {text}"


JOINED = line(
    2,
    "Successfully joined group with generation "
    f"Generation{{generationId=1, memberId='{MEMBER}', protocol='range'}}",
)
FIRST = [line(1, "(Re-)joining group"), JOINED, line(3, "Adding newly assigned partitions: [t-0]")]
THEN = [
    line(9, "Revoke previously assigned partitions [t-0]"),
    line(10, "(Re-)joining group"),
    line(11, "Adding newly assigned partitions: [t-0]"),
]


def told(**logs: list[str]) -> Observation:
    files = {name.replace("_", ".") + ".log": lines for name, lines in logs.items()}
    return observe([source(name, lines) for name, lines in files.items()])


def test_parts_that_follow_each_other_are_one_life() -> None:
    found = told(app_1=FIRST, app_2=THEN)
    (voice,) = found.groups["g"].voices
    assert [f.what for f in voice.facts if f.what in ("assigned", "revoked")] == [
        "assigned",
        "revoked",
        "assigned",
    ]
    (pause,) = found.groups["g"].pauses
    assert (pause.end_us - pause.start_us) // 1_000 == 2_000


def test_replicas_that_run_side_by_side_stay_apart() -> None:
    found = told(app_1=FIRST, app_2=FIRST)
    assert len(found.groups["g"].voices) == 2


def test_each_part_has_its_clock_told() -> None:
    assert sorted(told(app_1=FIRST, app_2=THEN).clocks) == ["app.1.log", "app.2.log"]


def test_logs_one_after_the_other_in_one_file_are_two_processes() -> None:
    """`cat *.log` and `kubectl logs -l app=…` do that; client ids are the same in every process."""
    settings = ["[2026-01-05 10:00:00,500] INFO ConsumerConfig values: ", "\tgroup.id = g"]
    at_work = ["[2026-01-05 10:00:50,000] INFO 800 records handled (com.acme.Shop)"]
    found = told(all=[*settings, *FIRST, *at_work, *settings, *THEN])
    first, then = sorted(found.groups["g"].voices, key=lambda v: "revoked" in _calls(v))
    assert (_calls(first), _calls(then)) == (["assigned"], ["revoked", "assigned"])
    assert first.stream is not then.stream


def _calls(voice: Voice) -> list[str]:
    return [f.what for f in voice.facts if f.what in CALLS]


def test_a_clock_set_back_under_a_running_process_makes_no_other_one() -> None:
    back = [text.replace("10:00:", "09:59:") for text in THEN]
    assert len(told(app=[*FIRST, *back]).groups["g"].voices) == 1


def test_the_end_of_summer_time_makes_no_other_process() -> None:
    back = [text.replace("10:00:", "09:00:") for text in THEN[2:]]
    assert len(told(app=[*FIRST, *back]).groups["g"].voices) == 1


def test_a_line_that_comes_twice_counts_once_and_is_told() -> None:
    found = told(app=[line for line in (*FIRST, *THEN) for _ in range(2)])
    assert found.census.doubled == len(FIRST) + len(THEN)
    (voice,) = found.groups["g"].voices
    assert [f.what for f in voice.facts].count("assigned") == 2
