"""What CONTRIBUTING promises: a new thing of each kind is a file, which needs no other to be told
about it. Each test puts one beside the others and asks the command line. (Rules of lint have a test
of their own, beside the rules.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORY = ROOT / "scenarios" / "crash.yaml"


def rebalsim_with(room: str, folder: Path, *arguments: str) -> str:
    """What the command prints where `room` has the files of `folder`, too."""
    return rebalsim_after(
        f"import {room} as room; room.__path__.append({str(folder)!r})", folder, *arguments
    )


def rebalsim_after(change: str, folder: Path, *arguments: str) -> str:
    """What the command prints in a rebalsim that was changed so."""
    script = f"import sys; {change}; from rebalsim.__main__ import run; run()"
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert "Traceback" not in done.stderr and done.returncode in (0, 1), done.stderr
    return done.stdout


def with_action(folder: Path, name: str, action: str, deed: str) -> str:
    """What puts an action of the script, and what it does, beside the others."""
    for room, text in (("actions", action), ("deeds", deed)):
        (folder / room).mkdir()
        (folder / room / f"{name}.py").write_text(text, "utf-8")
    return (
        "import rebalsim.scenario.script_actions as a, rebalsim.simulation.deeds as d; "
        f"a.__path__.append({str(folder / 'actions')!r}); "
        f"d.__path__.append({str(folder / 'deeds')!r})"
    )


FORM = """
from rebalsim.reports.forms.form import Form, Subject, Rendering

def render(value, view):
    return f"<{type(value).__name__}>\\n"

FORM = Form(
    "angle-brackets",
    {
        Subject.RUNS: Rendering("In angle brackets.", render),
        Subject.CHECK: Rendering("A check in angle brackets.", render),
        Subject.SWEEP: Rendering("A sweep in angle brackets.", render),
        Subject.PREVIEW: Rendering("A preview in angle brackets.", render),
    },
)
"""


@pytest.mark.slow
def test_a_form_of_output(tmp_path: Path) -> None:
    (tmp_path / "form_angle_brackets.py").write_text(FORM, "utf-8")
    forms = "rebalsim.reports.forms"

    for command in ("run", "report", "compare", "replay", "observe"):
        told = rebalsim_with(forms, tmp_path, command, "--help")
        assert "--angle-brackets" in told and "In angle brackets." in told, command
    assert "A sweep in angle brackets." in rebalsim_with(forms, tmp_path, "sweep", "--help")
    told = rebalsim_with(forms, tmp_path, "preview", "--help")
    assert "A preview in angle brackets." in told
    played = ("--advise", "off", "--angle-brackets", str(STORY))
    assert rebalsim_with(forms, tmp_path, "run", *played) == "<Report>\n"
    assert rebalsim_with(forms, tmp_path, "check", *played) == "<CheckReport>\n"


ACTION = """
from dataclasses import dataclass

from rebalsim.domain.deed import Deed
from rebalsim.scenario.kinds import Section
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import names_of
from rebalsim.scenario.script_language import WHO


@dataclass(frozen=True, slots=True)
class Applaud(Deed):
    consumers: tuple[str, ...]


SECTION = Section("applaud", (WHO,), "Members are applauded.")


def read(script, written, line):
    return Applaud(names_of(script.seats_of(written)))


def say(deed):
    return f"applause for {' and '.join(deed.consumers)}"


ACTION = ScriptAction("applaud", SECTION, read, {Applaud: say})
"""
DEED = """
from rebalsim.scenario.script_actions.applaud import Applaud
from rebalsim.scenario.script_words import say_deed


def applaud(world, name, deed):
    world.script.tell(name, "Applaud", say_deed(deed), deed.consumers)
    return
    yield


CARRIED_OUT = {Applaud: applaud}
"""


def test_an_action_of_the_script(tmp_path: Path) -> None:
    change = with_action(tmp_path, "applaud", ACTION, DEED)
    story = tmp_path / "story.yaml"
    story.write_text(
        "title: Applause\ntopics: {orders: 4}\ngroup: {members: 2}\nhorizon: 2m\n"
        "script:\n  - {at: 1m, applaud: {members: [c0, c1]}}\n",
        "utf-8",
    )

    assert "applause for c0 and c1" in rebalsim_after(change, tmp_path, "show", str(story))
    assert "Members are applauded." in rebalsim_after(change, tmp_path, "explain", "applaud")
    told = rebalsim_after(change, tmp_path, "trace", str(story), "--variant", "eager", "--json")
    assert "applause for c0 and c1" in told


FAULT = """
from dataclasses import dataclass

from rebalsim.domain.deed import Deed
from rebalsim.scenario.kinds import Section
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import names_of
from rebalsim.scenario.script_language import FOR_A_WHILE, WHO


@dataclass(frozen=True, slots=True)
class Stun(Deed):
    consumers: tuple[str, ...]
    for_us: int


SECTION = Section("stun", (WHO, FOR_A_WHILE), "Members stand as if stunned.")


def read(script, written, line):
    return Stun(names_of(script.seats_of(written)), written.get("for"))


def say(deed):
    return f"stun {' and '.join(deed.consumers)}"


ACTION = ScriptAction("stun", SECTION, read, {Stun: say})
"""
HARM = """
from rebalsim.scenario.script_actions.stun import Stun
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.deeds.waiting import wait_until


def stun(world, name, deed):
    world.script.tell(name, "Stun", say_deed(deed), deed.consumers)
    for consumer in deed.consumers:
        world.consumers[consumer].freeze()
    yield from wait_until(world, world.engine.now + deed.for_us)
    for consumer in deed.consumers:
        world.consumers[consumer].thaw()


CARRIED_OUT = {Stun: stun}
"""


def test_a_fault(tmp_path: Path) -> None:
    """Its pauses are found and explained, and break budgets, though nobody was told of it."""
    change = with_action(tmp_path, "stun", FAULT, HARM)
    story = tmp_path / "story.yaml"
    story.write_text(
        "title: Stunned\ntopics: {orders: {partitions: 4, rate: 100/s}}\n"
        "group: {members: 2, config: {session.timeout.ms: 10s}}\nhorizon: 3m\n"
        "script:\n  - {at: 1m, stun: {members: [c0], for: 30s}}\n"
        "budgets: {longest_pause: <= 1s}\n",
        "utf-8",
    )

    run = ("run", str(story), "--variant", "eager", "--advise", "off")
    told = " ".join(rebalsim_after(change, tmp_path, *run).split())
    assert "▼stun c0" in told
    assert "while c0 was frozen and nobody knew until its session ran out" in told
    judged = rebalsim_after(change, tmp_path, "check", str(story), "--advise", "off", "--json")
    assert json.loads(judged)["ending"] == "fail"


def test_a_version_of_a_client(tmp_path: Path) -> None:
    story = tmp_path / "story.yaml"
    story.write_text(
        "title: A new one\ntopics: {orders: 4}\nhorizon: 2m\n"
        "group: {members: 2, client: franz-go, client_version: '9.9'}\n"
        "script:\n  - {at: 1m, crash: c0}\n",
        "utf-8",
    )
    change = (
        "from dataclasses import replace; from rebalsim.scenario import profiles as p; "
        "known = max(v for c, v in p.CLIENTS if c == 'franz-go'); "
        "p.CLIENTS['franz-go', '9.9'] = replace(p.CLIENTS['franz-go', known], version='9.9')"
    )

    told = rebalsim_after(change, tmp_path, "show", str(story))
    assert "franz-go 9.9" in told
    played = ("run", str(story), "--variant", "eager", "--advise", "off")
    assert "c0" in rebalsim_after(change, tmp_path, *played)


# replaces one piece of a module's source as it is imported
AS_EDITED = """
import importlib.machinery as machinery
plain = machinery.SourceFileLoader.get_code
def get_code(self, name):
    if name not in EDITS:
        return plain(self, name)
    old, new = EDITS[name]
    text = self.get_source(name)
    assert text.count(old) == 1, (name, old)
    return compile(text.replace(old, new), self.path, "exec")
machinery.SourceFileLoader.get_code = get_code
"""
# what stands in domain, and the place in analysis that finds it: here, all that was the first fetch
APPLAUSE = {
    "rebalsim.domain.phase": (
        '    FETCH = "fetch"',
        '    APPLAUSE = "applause"\n    FETCH = "fetch"',
    ),
    "rebalsim.analysis.phases_classic": (
        "return PhaseKind.FETCH, holder, None",
        "return PhaseKind.APPLAUSE, holder, None",
    ),
}
PHASE = """
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, PhaseCard

CARD = PhaseCard(
    PhaseKind.APPLAUSE,
    Look("A", "▓", "yellow", "#123456", "#a75c14"),
    title="waiting until they had clapped",
    what="Everybody claps.",
    why="It went well.",
    shows="Nothing.",
    change="Do not clap.",
    tell=lambda facts, who: "until all had clapped",
)
"""


@pytest.mark.slow
def test_a_phase_of_a_pause(tmp_path: Path) -> None:
    (tmp_path / "applause.py").write_text(PHASE, "utf-8")
    change = (
        f"EDITS = {APPLAUSE!r}; exec({AS_EDITED!r}); import rebalsim.reports.phases as room; "
        f"room.__path__.append({str(tmp_path)!r})"
    )

    assert "Everybody claps." in rebalsim_after(change, tmp_path, "explain", "applause")
    of_metric = rebalsim_after(change, tmp_path, "explain", "partition_seconds_applause")
    assert "applause" in of_metric
    which = ("--variant", "eager", "--partition", "orders-0")
    told = rebalsim_after(change, tmp_path, "explain", str(STORY), *which)
    assert "until all had clapped" in " ".join(told.split())
    played = ("run", str(STORY), "--variant", "eager", "--advise", "off")
    told = rebalsim_after(change, tmp_path, *played, "--json", "--html", "page.html")
    assert "#123456" in (tmp_path / "page.html").read_text("utf-8")
    assert '"applause"' in told
