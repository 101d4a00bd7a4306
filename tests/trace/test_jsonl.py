"""Trace files: the same bytes for the same trace, the same trace from the bytes, and a clear
line for every broken one.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import random
from pathlib import Path

import pytest
from builders import trace

from rebalsim import __version__
from rebalsim.cli.main import code_of
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.jsonl import lines_for, parse_trace, read_trace, write_trace
from rebalsim.trace.recording import read_recording
from rebalsim.trace.trace import ConsumerFacts, FormerFacts, TopicFacts, Trace, TraceHeader

REALITY = Path(__file__).parents[1] / "reality" / "traces"
STORY = "c1+p0,p1@0 c2(@1 c1?@2 c1-p0,p1@3 g{joined.c2@3 g|2.c1@4 g}2@4 c1+p0@5 c2+p1@5"


def full() -> Trace:
    """Every kind of event there is, every field filled with something that is not its default."""
    values = {
        "int": 7,
        "str": "a “b”\n\\ü",
        "bool": True,
        "Partition": Partition("a.b-c", 12),
        "tuple[Partition, ...]": (Partition("t", 1), Partition("t-1", 2)),
        "tuple[Partition, ...] | None": (Partition("t", 1),),
        "tuple[str, ...]": ("x", "y"),
        "dict[Partition, tuple[int, int, int]]": {
            Partition("t", 0): (1, 2, 3),
            Partition("u", 0): (4, 5, -1),
        },
    }
    events = [
        kind(**{f.name: values[str(f.type)] for f in dataclasses.fields(kind)})
        for kind in ev.EVENT_CLASSES.values()
    ]
    header = TraceHeader(
        rebalsim="0.1",
        source="simulated",
        title="<script>",
        variant="eager",
        seed=41,
        horizon_us=10,
        command="rebalsim run x",
        topics={
            "z": TopicFacts(3, ((0, 1.5, False), (10, 2.0, True)), (0.25, 0.75), 100),
            "a": TopicFacts(1),
        },
        consumers={
            "c1": ConsumerFacts(
                "g",
                is_auto_commit=False,
                instance_id="i",
                assignors=("range",),
                former=(FormerFacts(5, "java 3.9"),),
            ),
            "c0": ConsumerFacts("g"),
        },
    )
    return Trace(header, events)


def test_every_event_survives() -> None:
    told = full()
    again = parse_trace(lines_for(told), "x")
    assert again.events == told.events
    assert again.header == told.header
    assert list(lines_for(again)) == list(lines_for(told))


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_files_are_the_same_bytes_each_time(tmp_path: Path, suffix: str) -> None:
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    write_trace(full(), one)
    write_trace(full(), other)
    assert one.read_bytes() == other.read_bytes()
    assert read_trace(one).events == full().events
    assert sorted(p.name for p in tmp_path.iterdir()) == [one.name, other.name]


def test_a_recording_survives(tmp_path: Path) -> None:
    told = read_recording(REALITY / "static-next.json.gz")
    write_trace(told, tmp_path / "t.jsonl.gz")
    again = read_trace(tmp_path / "t.jsonl.gz")
    assert (again.header, again.events) == (told.header, told.events)


def test_defaults_are_left_out_and_lines_are_for_people() -> None:
    lines = list(lines_for(trace("c1!@5")))
    assert json.loads(lines[1]) == {
        "n": 0,
        "event": "ConsumerExited",
        "at_us": 5_000_000,
        "consumer": "c1",
        "life": 1,
        "how": "killed",
    }
    assert lines[0].startswith('{"trace":{"schema":1,')


def broken(change: object) -> str:
    lines = list(lines_for(trace(STORY)))
    change(lines)  # type: ignore[operator]
    with pytest.raises(InputError) as e:
        parse_trace(lines, "story.jsonl")
    return str(e.value)


def swap(place: int, old: str, new: str) -> object:
    def change(lines: list[str]) -> None:
        assert old in lines[place]
        lines[place] = lines[place].replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines.clear(), "is empty"),
        (lambda lines: lines.pop(), "was cut: its header promises"),
        (lambda lines: lines.pop(3), "story.jsonl:4: is event number 3, 2 was expected"),
        (lambda lines: lines.insert(3, "\n"), "story.jsonl:4: is empty"),
        (
            lambda lines: lines.__setitem__(5, lines[5][:20]),
            "story.jsonl:6: is not JSON (the line has no end: was the file cut?)",
        ),
        (
            swap(0, '"schema":1', '"schema":2'),
            f"is a trace of schema 2; this rebalsim ({__version__}) reads schema 1",
        ),
        (swap(0, '{"trace"', '{"track"'), "is not a trace's header"),
        (
            swap(0, '"horizon_us":100000000', '"horizon_us":"100s"'),
            "horizon_us wants an integer, not '100s'",
        ),
        (
            swap(1, "CallbackBegan", "CallbackBecame"),
            "tells of a 'CallbackBecame', which is no event",
        ),
        (
            swap(1, '"at_us":0', '"at_us":9000000'),
            "story.jsonl:3: at_us 0 is before the event above (9000000)",
        ),
        (swap(1, '"at_us":0', '"at_us":-1'), "at_us -1 is before the start"),
        (swap(1, '"consumer"', '"customer"'), "CallbackBegan has no 'customer'"),
        (swap(1, '"consumer":"c1",', ""), "CallbackBegan lacks consumer"),
        (swap(1, '"t-0"', '"t0"'), "wants a partition like orders-3, not 't0'"),
        (swap(1, '["t-0","t-1"]', '"t-0"'), "partitions wants a list of partitions"),
        (lambda lines: lines.__setitem__(2, "[]\n"), "is not an object"),
        (lambda lines: lines.__setitem__(2, "[" * 100_000 + "\n"), "is not JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(change: object, said: str) -> None:
    assert said in broken(change)


@pytest.mark.parametrize("seed", range(300))
def test_no_damage_crashes_the_reader(seed: int) -> None:
    stream = random.Random(seed)
    raw = bytearray("".join(lines_for(trace(STORY))).encode())
    for _ in range(stream.randrange(1, 4)):
        place = stream.randrange(len(raw))
        match stream.randrange(4):
            case 0:
                raw[place] = stream.randrange(256)
            case 1:
                del raw[place : place + stream.randrange(1, 60)]
            case 2:
                raw[place:place] = bytes(
                    stream.choices(b'{}[]":,0-eE\\x00ntf', k=stream.randrange(1, 9))
                )
            case _:
                raw[place:place] = raw[place : place + 40]
    try:
        parse_trace(raw.decode("utf-8", "replace").splitlines(keepends=True), "broken")
    except InputError as e:
        assert str(e).startswith("broken")


def test_a_packed_file_that_was_damaged_on_the_way_is_told_as_such(tmp_path: Path) -> None:
    """Deflate's own complaint is another error than that of a file cut short."""
    packed = bytearray(gzip.compress(b'{"config": {}, "steps": []}\n' * 2000))
    packed[40] ^= 0xFF
    (tmp_path / "damaged.jsonl.gz").write_bytes(packed)
    for command in ("verify", "report"):
        assert code_of([command, str(tmp_path / "damaged.jsonl.gz")]) == 2


def test_files_that_are_no_text_or_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("".join(lines_for(trace(STORY))).encode())[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        read_trace(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_trace(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_trace(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot be written"):
        write_trace(trace(STORY), tmp_path / "no" / "such" / "folder.jsonl")


def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.jsonl"
    write_trace(trace("c1!@5"), path)
    before = path.read_bytes()

    def interrupted(_: object) -> object:
        yield "half"
        raise KeyboardInterrupt

    monkeypatch.setattr("rebalsim.trace.jsonl.lines_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_trace(trace(STORY), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]
