"""The same line in every wrapping and layout proves the same."""

from __future__ import annotations

import json

import pytest
from reading_logs import AT, facts_of

TEXT = "[Consumer clientId=c0, groupId=g] (Re-)joining group"
LINE = f"[2025-11-18 15:40:07,559] INFO {TEXT} (org.apache.kafka.X)"
COLLECTED = "2025-11-18T15:40:07.560123456Z"


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        f"2025-11-18 15:40:07,559 [main] INFO org.apache.kafka.X - {TEXT}",
        f"2025-11-18T17:40:07.559+02:00  INFO 1 --- [main] o.a.k.c.X  : {TEXT}",
        f"2025-11-18 15:40:07.559 INFO {TEXT}",
        f"18 Nov 2025 15:40:07,559 INFO {TEXT}",
        f"2025/11/18 15:40:07.559000 INFO {TEXT}",
        json.dumps({"@timestamp": "2025-11-18T15:40:07.559Z", "message": TEXT, "level": "INFO"}),
        json.dumps({"timestamp": 1_763_480_407.559, "short_message": TEXT, "_level_name": "INFO"}),
        json.dumps(
            {
                "instant": {"epochSecond": 1_763_480_407, "nanoOfSecond": 559_000_000},
                "message": TEXT,
            }
        ),
        json.dumps({"log": LINE + "\n", "stream": "stdout", "time": COLLECTED}),
        f"{COLLECTED} stdout F {LINE}",
        f"[pod/orders-0/app] {COLLECTED} {LINE}",
        f"[pod/orders-0/app] {LINE}",
        f"{COLLECTED} {LINE}",
        f"orders-1  | {LINE}",
        f"2025-11-18T15:40:07+0000 host-1 consumer[16019]: {LINE}",
        f"Nov 18 15:40:07 host-1 consumer[16019]: {LINE}",
        f"<30>1 {COLLECTED} host-1 consumer 16019 - - {LINE}",
        json.dumps({"MESSAGE": LINE, "__REALTIME_TIMESTAMP": "1763480407559999", "_HOSTNAME": "h"}),
    ],
)
def test_layouts_and_wrappings_differ_kafkas_own_words_do_not(line: str) -> None:
    (fact,) = facts_of(line)
    assert (fact.what, fact.client, fact.group, fact.at_us) == ("asking", "c0", "g", AT)


def test_a_line_without_a_time_has_its_collectors() -> None:
    (fact,) = facts_of(f"{COLLECTED} stdout F INFO {TEXT}")
    assert fact.at_us == 1_763_480_407_560_123


def test_a_time_of_day_has_its_collectors_day_and_zone() -> None:
    (fact,) = facts_of(f"{COLLECTED} stdout F 10:40:07.559 [main] INFO X -- {TEXT}")
    assert fact.at_us == AT


def test_a_torn_line_is_made_whole() -> None:
    first, second = LINE[:60], LINE[60:]
    (fact,) = facts_of(f"{COLLECTED} stdout P {first}", f"{COLLECTED} stdout F {second}")
    assert fact.what == "asking"
    parts = [
        json.dumps({"log": text, "stream": "stdout", "time": COLLECTED})
        for text in (first, second + "\n")
    ]
    (fact,) = facts_of(*parts)
    assert fact.what == "asking"


def test_times_without_a_date_go_on_after_midnight() -> None:
    facts = facts_of(
        f"23:59:59.900 [main] INFO X -- {TEXT}", f"00:00:00.100 [main] INFO X -- {TEXT}"
    )
    assert facts[1].at_us - facts[0].at_us == 200_000


def test_an_escaped_line_of_settings_is_read_in_dockers_json() -> None:
    lines = ["[2025-11-18 15:40:07,559] INFO ConsumerConfig values: \n", "\tgroup.id = g\n"]
    lines.append("\tmax.poll.interval.ms = 12000\n")
    told = [json.dumps({"log": text, "stream": "stdout", "time": COLLECTED}) for text in lines]
    found = {f.why: f.other for f in facts_of(*told) if f.what == "setting"}
    assert found == {"group.id": "g", "max.poll.interval.ms": "12000"}


def test_librdkafka_is_known_behind_any_prefix() -> None:
    line = (
        '%7|1763480407.559|CGRPJOINSTATE|c#consumer-1| [thrd:main]: Group "g" changed join state '
        "init -> wait-join (state up)"
    )
    bridged = (
        '2025-11-18 15:40:07,559 DEBUG kafka: CGRPJOINSTATE [c#consumer-1] [thrd:main]: Group "g" '
        "changed join state init -> wait-join (state up)"
    )
    for told in (line, f"orders-1  | {line}", f"{COLLECTED} stderr F {line}", bridged):
        (fact,) = facts_of(told)
        assert (fact.what, fact.client, fact.at_us) == ("rd-state", "c", AT)


def test_a_journal_without_years_takes_its_day_from_lines_that_have_one() -> None:
    head = "Nov 18 15:40:07 host-1 consumer[16019]: "
    facts = facts_of(head + TEXT, head + LINE, head + TEXT)
    assert [f.at_us // 1_000_000 for f in facts] == [AT // 1_000_000] * 3
