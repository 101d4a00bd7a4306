"""What a fleet's logs come to, as rows of four tables; and facts as rows between the two steps that
lead there: each file by itself, then each group by itself. One process and many take the same steps.

Times are µs since 1970; `pauses` has the columns of a sweep's, so that observed and simulated ones stand
in one query. `day` is the UTC day on which the row's moment falls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import FactKind
from rebalsim.worlds.logs.observation import GroupStory, told_by
from rebalsim.worlds.logs.packed_facts import packed, unpacked
from rebalsim.worlds.logs.shelf import Shelf
from rebalsim.worlds.logs.sources import host_of, part_of
from rebalsim.worlds.logs.streams import Census, Reader, Stream, without_collecting
from rebalsim.worlds.logs.whose import Whose

_SECONDS_A_DAY = 86_400
Row = dict[str, Any]

COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    "events": (
        ("at_us", "BIGINT"),
        ("what", "STRING"),
        ("consumer", "STRING"),
        ("member", "STRING"),
        ("generation", "BIGINT"),
        ("partitions", "STRING"),
        ("why", "STRING"),
    ),
    "rebalances": (
        ("generation", "BIGINT"),
        ("started_us", "BIGINT"),
        ("joined_us", "BIGINT"),
        ("ended_us", "BIGINT"),
        ("trigger", "STRING"),
        ("member", "STRING"),
        ("late", "STRING"),
        ("late_us", "BIGINT"),
        ("members", "BIGINT"),
        ("is_epoch", "BOOLEAN"),
    ),
    "pauses": (
        ("topic", "STRING"),
        ("partition", "BIGINT"),
        ("started_us", "BIGINT"),
        ("ended_us", "BIGINT"),
        ("is_open", "BOOLEAN"),
        ("why", "STRING"),
        ("cause", "STRING"),
        ("member", "STRING"),
        ("owner_before", "STRING"),
        ("owner_after", "STRING"),
    ),
    "members": (
        ("consumer", "STRING"),
        ("host", "STRING"),
        ("client", "STRING"),
        ("instance", "STRING"),
        ("ids", "STRING"),
        ("first_us", "BIGINT"),
        ("last_us", "BIGINT"),
        ("session_timeout_ms", "BIGINT"),
        ("heartbeat_interval_ms", "BIGINT"),
        ("max_poll_interval_ms", "BIGINT"),
        ("settings", "STRING"),
    ),
}
FACT_COLUMNS = ("grp", "host", "part", "file", "source", "place", "clock", "dialect", "fact")


# ------------------------------------------------------------------------- the first step: a file


def facts_in_file(name: str, chunks: Iterable[list[str]]) -> Iterator[tuple[Any, ...]]:
    """One file's facts as rows, each with the group that it is of."""
    streams: dict[str, Stream] = {}
    reader = Reader(name, host_of(name), streams, Census())
    with Shelf() as shelf:
        with without_collecting():
            for chunk in chunks:
                reader.go_on(chunk)
                shelf.put_away(streams.values())
            reader.end()
        whose = {stream.source: shelf.whole(stream) for stream in streams.values()}
        heads = {
            stream.source: (*_head(stream), json.dumps(clock_of(stream)))
            for stream in streams.values()
        }
        for source, (place, speaker, groups, told) in shelf.taken_back():
            *head, clock = heads[source]
            for group in groups:
                yield (group, *head, place, clock, speaker, told)
        for stream in streams.values():
            yield from rows_of(stream, whose[stream.source])


def rows_of(stream: Stream, whose: Whose) -> Iterator[tuple[Any, ...]]:
    """The facts that are at hand of a stream, as rows."""
    clock = json.dumps(clock_of(stream))
    head = _head(stream)
    for speaker, fact in stream.told:
        groups = whose.groups_of(speaker, fact)
        if groups:
            told = packed(fact)
        for group in groups:
            yield (group, *head, fact.place, clock, speaker.name, told)


def _head(stream: Stream) -> tuple[str, int, str, str]:
    return stream.host, -part_of(stream.file), stream.file, stream.source


def clock_of(stream: Stream) -> list[int | bool]:
    """What is to be known of a stream's clock: most of its times are in whole seconds, or finer; the
    collector's resolution; whether zone and date are told.
    """
    is_coarse = stream.coarse > stream.fine
    is_fine = not is_coarse and stream.fine > 0
    clock = [int(is_coarse), int(is_fine), stream.collected_us]
    return [*clock, stream.has_zone, stream.has_date]


# ------------------------------------------------------------------------ the second step: a group


def streams_of(rows: Iterable[Sequence[Any]]) -> list[Stream]:
    """The streams that a group's fact rows tell of, whatever order they come in."""
    found: dict[tuple[str, str], Stream] = {}
    clocks: dict[tuple[str, str], str] = {}
    for _, host, _, file, source, _, clock, speaker, told in sorted(rows, key=_by_place):
        stream = found.get((host, source))
        if stream is None:
            stream = found[host, source] = Stream(host, file, source)
        stream.file = file
        clocks[host, source] = clock  # which is that of the last one
        stream.add(dialect(speaker), unpacked(told))
    for key, clock in clocks.items():
        flags = json.loads(clock)
        found[key].coarse, found[key].fine, found[key].collected_us = flags[:3]
        found[key].has_zone, found[key].has_date = flags[3:]
    return list(found.values())


def _by_place(row: Sequence[Any]) -> tuple[Any, ...]:
    _, host, part, file, source, place, *_ = row
    return host, source, part, file, place


def tables_of_group(group: str, rows: Iterable[Sequence[Any]]) -> Iterator[tuple[str, str, Row]]:
    """(table, day, row) of everything that the group's facts tell."""
    streams = streams_of(rows)
    observed = told_by(streams, Census())
    story = observed.groups.get(group)
    if story is not None:
        yield from rows_of_story(story)


def rows_of_story(story: GroupStory) -> Iterator[tuple[str, str, Row]]:
    """(table, day, row) of everything that is known of a group."""
    for table, make in (
        ("events", _events),
        ("rebalances", _rebalances),
        ("pauses", _pauses),
        ("members", _members),
    ):
        for at_us, row in make(story):
            yield table, day_of(at_us), {"group": story.name, **row}


def day_of(at_us: int) -> str:
    """The UTC day, as 2026-11-19."""
    days = at_us // 1_000_000 // _SECONDS_A_DAY + 719_468
    era, day = divmod(days, 146_097)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    rest = day - (365 * year + year // 4 - year // 100)
    month = (5 * rest + 2) // 153
    number = rest - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return f"{year + era * 400 + (month <= 2):04d}-{month:02d}-{number:02d}"


def _events(story: GroupStory) -> Iterator[tuple[int, Row]]:
    told = [(f.at_us, "", f) for f in story.coordinator]
    told += [(f.at_us, v.name, f) for v in story.voices for f in v.facts if f.what not in _QUIET]
    for at, consumer, f in sorted(told, key=lambda x: (x[0], x[1], x[2].what)):
        yield (
            at,
            {
                "at_us": at,
                "what": f.what.value,
                "consumer": consumer,
                "member": f.member,
                "generation": f.generation,
                "partitions": " ".join(f.partitions),
                "why": f.why,
            },
        )


_QUIET = (
    FactKind.SPOKE,
    FactKind.SETTING,
    FactKind.SETTINGS,
    FactKind.POSITIONED,
    FactKind.VERSION,
)


def _rebalances(story: GroupStory) -> Iterator[tuple[int, Row]]:
    for r in story.rounds:
        yield (
            r.begin_us,
            {
                "generation": r.generation,
                "started_us": r.begin_us,
                "joined_us": r.joined_us,
                "ended_us": r.end_us,
                "trigger": r.trigger.kind.value,
                "member": r.trigger.member,
                "late": r.late_member,
                "late_us": r.late_us,
                "members": r.members,
                "is_epoch": r.is_epoch,
            },
        )


def _pauses(story: GroupStory) -> Iterator[tuple[int, Row]]:
    for p in story.pauses:
        topic, _, number = p.partition.rpartition("-")
        yield (
            p.start_us,
            {
                "topic": topic,
                "partition": int(number) if number.isdigit() else -1,
                "started_us": p.start_us,
                "ended_us": p.end_us,
                "is_open": p.end_us < 0,
                "why": str(p.how),
                "cause": str(p.kind),
                "member": p.member,
                "owner_before": p.owner.name,
                "owner_after": p.to.name if p.to is not None else "",
            },
        )


def _members(story: GroupStory) -> Iterator[tuple[int, Row]]:
    for v in story.voices:
        if v.facts:
            yield (
                v.facts[0].at_us,
                {
                    "consumer": v.name,
                    "host": v.stream.host,
                    "client": dialect(v.dialect).client,
                    "instance": v.instance,
                    "ids": " ".join(v.ids),
                    "first_us": v.facts[0].at_us,
                    "last_us": v.facts[-1].at_us,
                    "session_timeout_ms": v.settled("session.timeout.ms"),
                    "heartbeat_interval_ms": v.settled("heartbeat.interval.ms"),
                    "max_poll_interval_ms": v.settled("max.poll.interval.ms"),
                    "settings": json.dumps(_of_all(v.settings), separators=(",", ":")),
                },
            )


def _of_all(settings: dict[str, str]) -> dict[str, str]:
    """The settings that do not name the consumer itself."""
    return {k: v for k, v in sorted(settings.items()) if not k.endswith(".id") and v != "null"}


def tables_in_one_process(files: Iterable[tuple[str, Iterable[list[str]]]]) -> dict[str, list[Row]]:
    """All four tables, by the same two steps, with `day` in each row; sorted as the files are."""
    by_group: dict[str, list[tuple[Any, ...]]] = {}
    for name, chunks in files:
        for fact in facts_in_file(name, chunks):
            by_group.setdefault(fact[0], []).append(fact)
    found: dict[str, list[Row]] = {name: [] for name in COLUMNS}
    for group in sorted(by_group):
        for table, day, row in tables_of_group(group, by_group[group]):
            found[table].append({"day": day, **row})
    return found
