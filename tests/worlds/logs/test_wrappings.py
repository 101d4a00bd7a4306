"""The same line in every wrapping and layout proves the same."""

from __future__ import annotations

import json

import pytest
from reading_logs import AT, facts_of

from rebalsim.worlds.logs.sources import host_of, part_of
from rebalsim.worlds.logs.streams import Census, Reader, Stream

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
        f"18-Nov-2025 15:40:07.559 INFO [main] {TEXT}",
        f"18.11.2025 15:40:07,559 INFO [main] X - {TEXT}",
        f"18/11/2025 15:40:07.559 INFO [main] X - {TEXT}",
        f"11/18/2025 3:40:07.559 PM INFO [main] X - {TEXT}",
        f"20251118 15:40:07.559|INFO|main|X|{TEXT}",
        f"20251118T154007,559 INFO X {TEXT}",
        f"1763480407559 INFO [main] X - {TEXT}",
        f"1763480407.559 INFO [main] X - {TEXT}",
        f"INFO  2025-11-18 15:40:07,559 [main] X - {TEXT}",
        f"2025-11-18 15:40:07,559 INFO {TEXT} (org.apache.kafka.X) [main]",
        f"[2025-11-18 15:40:07,559] INFO {TEXT} (org.apache.kafka.X:1082)",
        f"2025-11-18 15:40:07,559 INFO  [o.a.k.X] (main) {TEXT}",
        f'time=2025-11-18T15:40:07.559Z level=info logger=X msg="{TEXT}"',
        json.dumps({"@timestamp": "2025-11-18T15:40:07.559Z", "message": TEXT, "level": "INFO"}),
        json.dumps({"timestamp": 1_763_480_407.559, "short_message": TEXT, "_level_name": "INFO"}),
        json.dumps(
            {
                "instant": {"epochSecond": 1_763_480_407, "nanoOfSecond": 559_000_000},
                "message": TEXT,
            }
        ),
        json.dumps(
            {"timestamp": {"seconds": 1_763_480_407, "nanos": 559_000_000}, "message": TEXT}
        ),
        json.dumps({"log": LINE + "\n", "stream": "stdout", "time": COLLECTED}),
        json.dumps({"date": 1_763_480_407.56, "log": LINE, "kubernetes": {"pod_name": "p"}}),
        json.dumps({"line": LINE, "labels": {"pod": "p"}, "timestamp": COLLECTED}),
        json.dumps({"jsonPayload": {"message": TEXT}, "timestamp": "2025-11-18T15:40:07.559Z"}),
        json.dumps({"_source": {"@timestamp": "2025-11-18T15:40:07.559Z", "message": TEXT}}),
        '2025-11-18T15:40:07+00:00\tkube.p\t{"log":"' + LINE + '\\n"}',
        f"orders-7c9d8f-x2x4z app {LINE}",
        f"2025-11-18T15:40:07.560000+00:00 ecs/orders/4f1c {LINE}",
        f"2025-11-18T15:40:07.560000+00:00 app[worker.1]: {LINE}",
        f"2025-11-18T15:40:07.560Z {LINE}",
        f"Tue 2025-11-18 15:40:07 CET host-1 consumer.service[16019]: {LINE}",
        f"[ 1234.567890] host-1 consumer[16019]: {LINE}",
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


def test_a_line_broken_in_two_has_the_time_of_its_first_half() -> None:
    lines = ["Nov 18, 2025 3:40:07 PM org.apache.kafka.X info", f"INFO: {TEXT}"]
    (fact,) = facts_of(*lines)
    assert fact.at_us == AT // 1_000_000 * 1_000_000


def test_a_collectors_time_is_finer_than_whole_seconds_and_lies_within_them() -> None:
    head = "2025-11-18T15:40:07.560123456Z stdout F "
    (fact,) = facts_of(f"{head}2025/11/18 15:40:07 {TEXT}")
    assert fact.at_us == 1_763_480_407_560_123
    (fact,) = facts_of(f"{head}2025/11/18 15:40:05 {TEXT}")  # seen long after: of no use
    assert fact.at_us == 1_763_480_405_000_000


def test_a_day_without_a_year_is_the_coordinators() -> None:
    (fact,) = facts_of(f"Nov 18 15:40:07.559 INFO {TEXT}")
    assert fact.at_us == AT % 86_400_000_000


def test_pods_in_one_file_are_told_apart_by_their_collectors_documents() -> None:
    streams: dict[str, Stream] = {}
    lines = [json.dumps({"log": LINE, "kubernetes": {"pod_name": pod}}) for pod in ("a", "b")]
    Reader("all.json", "all.json", streams, Census()).read(lines)
    assert sorted(s.source for s in streams.values()) == ["a", "b"]


@pytest.mark.parametrize(
    "names",
    [
        ["app.log.2.gz", "app.log.1", "app.log"],
        ["app.log.2025-11-18-07", "app.log.2025-11-18-08", "app.log"],
        ["app.log.20251118-074000.gz", "app.log.20251118-084000", "app.log"],
        ["app.log-20251118.gz", "app.log-20251119", "app.log"],
        ["app.2025-11-18.0.log.gz", "app.2025-11-18.1.log.gz", "app.2025-11-19.0.log", "app.log"],
        ["app-11-18-2024-2.log.gz", "app-01-02-2025-1.log.gz", "app.log"],
    ],
)
def test_parts_of_a_rotated_log_are_one_hosts_oldest_first(names: list[str]) -> None:
    assert {host_of(name) for name in names} == {"app.log"}
    assert sorted(names, key=part_of, reverse=True) == names


@pytest.mark.parametrize("name", ["orders-1.log", "orders-2024.log", "2025.log", "a.b.log"])
def test_a_name_with_a_number_is_no_part(name: str) -> None:
    assert (host_of(name), part_of(name)) == (name, 0)


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


def test_processes_of_one_host_are_told_apart_by_their_numbers() -> None:
    streams: dict[str, Stream] = {}
    lines = [f"2025-11-18T15:40:07+0000 host-1 consumer[{pid}]: {LINE}" for pid in (7, 8)]
    Reader("journal.txt", "journal.txt", streams, Census()).read(lines)
    assert len(streams) == 2


def test_the_last_sign_of_life_is_found_among_others_lines() -> None:
    """`api` speaks of groups once, works on, and dies; the other pod prints much more after that."""
    streams: dict[str, Stream] = {}
    at_work = "2025-11-18 15:41:00,000 INFO at work"
    lines = [f"api-1 app {LINE}", f"api-1 app {at_work}", *[f"web-1 app {at_work}"] * 100]
    Reader("all.txt", "all.txt", streams, Census()).read(lines)
    (api,) = streams.values()
    assert (api.told[-1][1].what, api.told[-1][1].at_us - AT) == ("spoke", 52_441_000)
