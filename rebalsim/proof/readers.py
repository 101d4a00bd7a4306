"""Every reader of strangers' files, as the fuzzer knows it: good inputs to break, how they are
broken, and the commands that then read them. Whatever they are given, commands end with 0 to 3.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rebalsim.proof.mutations import mutated
from rebalsim.proof.wounded_json import wounded

SMALL = """\
topics: {orders: {partitions: 3, rate: 100/s}}
group: {members: {"c{n}": {count: 2}}, config: {partition.assignment.strategy: range}}
script: [{at: 20s, crash: c1}]
replay: [as-written]
horizon: 90s
budgets: {longest_pause: "<= 60s"}
"""
_LINES = (
    ("00:00,000", "(Re-)joining group", "ConsumerCoordinator"),
    (
        "00:03,010",
        "Successfully joined group with generation Generation{generationId=1, memberId='c0-1', "
        "protocol='range'}",
        "ConsumerCoordinator",
    ),
    (
        "00:03,020",
        "Adding newly assigned partitions: orders-0, orders-1",
        "ConsumerRebalanceListenerInvoker",
    ),
    (
        "01:00,000",
        "Request joining group due to: group is already rebalancing",
        "ConsumerCoordinator",
    ),
    (
        "01:00,010",
        "Revoke previously assigned partitions [orders-0, orders-1]",
        "ConsumerRebalanceListenerInvoker",
    ),
)
LOG = "".join(
    f"[2026-03-01 10:{at}] INFO [Consumer clientId=c0, groupId=g] {said} "
    f"(org.apache.kafka.clients.consumer.internals.{who})\n"
    for at, said, who in _LINES
)
Run = Callable[[list[str]], int]  # the command line, as its exit code
Goods = Callable[[Run], Sequence[bytes]]
Break = Callable[[Sequence[bytes], int, int], bytes]


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of input: the name it is given, good ones, how they are broken, who reads them."""

    name: str
    file: str
    goods: Goods
    breaks: Break
    commands: tuple[tuple[str, ...], ...]  # FILE stands for the broken file, GOOD for a story


def _json(goods: Sequence[bytes], seed: int, number: int) -> bytes:
    chance = random.Random(f"{seed} json {number}")
    if chance.random() < 0.15:
        return mutated(goods, seed, number)
    made = wounded(chance.choice(goods).decode(), chance)
    return gzip.compress(made, 1) if chance.random() < 0.05 else made


def _words(goods: Sequence[bytes], seed: int, number: int) -> bytes:
    """An option's text: one line, and no nought, which no argument can hold."""
    return mutated(goods, seed, number).replace(b"\0", b"").replace(b"\n", b" ")


@lru_cache(maxsize=1)
def _told(code_of: Run) -> dict[str, bytes]:
    """What rebalsim itself writes of a small story: a trace, a result, a baseline."""
    with tempfile.TemporaryDirectory() as folder:
        story, trace = Path(folder, "s.yaml"), Path(folder, "t.jsonl")
        base = Path(folder, "b.json")
        story.write_text(SMALL, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code_of(["run", str(story), "--json"])
        result = out.getvalue()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code_of(["run", str(story), "--trace", str(trace)])
            code_of(["check", str(story), "--save-baseline", str(base)])
        found = [p for p in Path(folder).iterdir() if p.name.startswith("t")]
        return {
            "trace": found[0].read_bytes(),
            "result": result.encode(),
            "baseline": base.read_bytes(),
        }


def _own(kind: str) -> Goods:
    return lambda code_of: [_told(code_of)[kind]]


def good_scenarios() -> list[bytes]:
    """The stock stories, and small ones of what broken files once hurt by."""
    from rebalsim.scenario.load import good_files

    return [*good_files(), *_small("scenario*")]


PLAN = """\
title: A small plan
scenario: good.yaml
axes:
  group.members: [2, 3]
  group.config.session.timeout.ms: {as: session, values: [10s, 45s]}
  slow: {cases: {no: {group.handler: 1ms}, yes: {group.handler: 5ms}}}
variants: [as-written]
seeds: 2
run_limit: 1m
budgets: {longest_pause: "<= 60s"}
minimise: [partition_seconds]
"""


def _small(pattern: str) -> list[bytes]:
    """Small inputs, many of them a real Kafka's, kept beside this file."""
    folder = Path(__file__).parent / "fuzz_seeds"
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


def _kept(pattern: str) -> Goods:
    return lambda _: _small(pattern)


READERS: dict[str, Reader] = {
    r.name: r
    for r in (
        # what is bounded here is reading: a fix that lint plays has a budget of its own, in events
        Reader(
            "scenario",
            "s.yaml",
            lambda _: good_scenarios(),
            mutated,
            (("lint", "FILE", "--advise", "off"), ("show", "FILE")),
        ),
        Reader(
            "plan", "p.yaml", lambda _: [PLAN.encode()], mutated, (("sweep", "FILE", "--tables"),)
        ),
        Reader(
            "trace",
            "t.jsonl",
            _own("trace"),
            _json,
            (("report", "FILE"), ("describe", "FILE", "--at", "30s"), ("report", "FILE", "--json")),
        ),
        Reader(
            "result",
            "r.json",
            _own("result"),
            _json,
            (("report", "FILE"), ("compare", "FILE", "FILE")),
        ),
        Reader(
            "baseline",
            "b.json",
            _own("baseline"),
            _json,
            (("check", "GOOD", "--baseline", "FILE"),),
        ),
        Reader(
            "recording",
            "rec.json",
            _kept("recording*"),
            _json,
            (("report", "FILE"), ("verify", "FILE")),
        ),
        Reader("conversation", "c.jsonl", _kept("conversations*"), _json, (("verify", "FILE"),)),
        Reader("vectors", "v.jsonl", _kept("vectors*"), _json, (("verify", "FILE"),)),
        Reader("log", "c0.log", lambda _: [LOG.encode()], mutated, (("report", "FILE"),)),
        Reader(
            "settings",
            "set.yaml",
            _kept("settings*"),
            mutated,
            (("import", "FILE", "--json", "--no-calibration"),),
        ),
        Reader("observed", "c1.log", lambda _: [LOG.encode()], mutated, (("observe", "FILE"),)),
        Reader(
            "options",
            "o.txt",
            lambda _: [
                b"group.config.session.timeout.ms=10s",
                b"topics.orders.partitions=4",
                b"seed=7",
            ],
            _words,
            (
                ("show", "GOOD", "--set", "TEXT"),
                ("lint", "GOOD", "--set", "TEXT", "--advise", "off"),
            ),
        ),
    )
}


class Reading:
    """A folder in which one reader is given broken files, in this process."""

    def __init__(self, reader: Reader, folder: Path, run: Run) -> None:
        self.reader, self.folder, self.run = reader, folder, run
        self.goods = list(reader.goods(run))
        self.good = folder / "good.yaml"
        self.good.write_text(SMALL, encoding="utf-8")

    def broken(self, seed: int, number: int) -> bytes:
        """The input of this number."""
        return self.reader.breaks(self.goods, seed, number)

    def judge(self, raw: bytes, number: int) -> int:
        """The code that a command ends with (which of them goes by the number); AssertionError
        says what a user would have seen that nobody should.
        """
        file = self.folder / self.reader.file
        file.write_bytes(raw)
        words = self.reader.commands[number % len(self.reader.commands)]
        told = {"FILE": str(file), "GOOD": str(self.good), "TEXT": raw.decode("utf-8", "replace")}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = self.run([told.get(word, word) for word in words])
        said = err.getvalue()
        assert 0 <= code <= 3, f"{' '.join(words)} ends with {code}: {said[:300]}"
        assert "Traceback" not in said, f"a traceback: {said[-400:]}"
        shown = out.getvalue() + said
        assert not any(c in shown for c in ("\x1b", "\x07", "\u202e")), (
            "a control character is shown"
        )
        return code
