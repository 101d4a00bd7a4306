"""Small repositories with scenarios, and `rebalsim check` run in them as a shell would."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.cli.main import code_of

# Three static pods, one restart of 35 s each, within the session: nobody else notices.
DEPLOY = """\
title: Rolling deploy of orders-processor
topics:
  orders: {partitions: 12, rate: 600/s}
group:
  members: {"orders-{n}": {count: 3}}
  group.instance.id: "{name}"
  config:
    session.timeout.ms: 60s
    partition.assignment.strategy: [cooperative-sticky]
  handler: 1ms
  life: {stop: 1s}
script:
  - at: 1m
    id: deploy
    rolling_bounce: {max_unavailable: 1, down: 35s, ready_when: assigned, settle: 10s}
replay: [as-written]
horizon: 4m
budgets:
  longest_pause: "<= 40s"
  rebalances: "== 0"
expect:
  - no rebalance after 30s
"""
# One crash near the end: what it costs is still open when the story stops.
OPEN = """\
title: A crash that nobody has noticed yet
topics: {orders: {partitions: 4, rate: 100/s}}
group: {members: 2, handler: 1ms}
script: [{at: 50s, crash: c0}]
replay: [eager]
horizon: 1m
budgets: {longest_pause: "<= 20s", open_pauses: {limit: "<= 0", level: warn}}
"""
BARE = (
    "title: Nothing asked\ntopics: {orders: {partitions: 4}}\ngroup: {members: 2}\nhorizon: "
    "30s\nreplay: [eager]\n"
)
SHORTER = ("--set", "group.config.session.timeout.ms=20s")


class Repository:
    """A folder with scenarios; `check` runs the command in it and keeps what it said."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.out = ""
        self.err = ""

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def check(self, *words: str, is_advised: bool = False) -> int:
        """What would help is played only where it is asked for: that takes most of the time."""
        off = () if is_advised or "--advise" in words else ("--advise", "off")
        code = code_of(["check", *off, *words])
        self.out, self.err = self.capsys.readouterr()
        return code
