"""Why a partition stood still, step by step: each phase of a pause with what it waited for, and
the trace's events that prove it.
"""

from __future__ import annotations

import textwrap

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause
from rebalsim.reports.events_told import tell_event
from rebalsim.reports.hints import hint_on
from rebalsim.reports.ink import Line
from rebalsim.reports.names import ascii_of, safe
from rebalsim.reports.sentences import Together, tell, tell_phase
from rebalsim.reports.view import View
from rebalsim.words.times import say_duration, say_instant


def render(analysis: Analysis, pause: Pause, view: View) -> str:
    """The sentence, the chain of evidence through the phases, and what it hangs on."""
    lines = _wrap(tell(Together((pause,))), view, 0)
    lines.append("")
    proof = [
        *pause.cause.evidence,
        *(n for phase in pause.phases for n in phase.evidence),
        pause.start_event,
        pause.end_event,
    ]
    left = sorted(n for n in dict.fromkeys(proof) if n >= 0)
    lines += _until(analysis, left, pause.started_us, view)
    for phase in pause.phases:
        head = Line(f"{say_duration(phase.length_us):>9}", "bold").add(
            f"  {phase.kind.value}: ", "bold"
        )
        lines += _hanging(head, tell_phase(phase, pause.owner_after), view)
        lines += _until(analysis, left, phase.ended_us, view)
    lines += _until(analysis, left, analysis.horizon_us + 1, view)
    if pause.is_open:
        lines += _wrap("It had not ended when the observation did.", view, 11)
    hint = hint_on(pause, analysis)
    if hint:
        lines += ["", *_wrap(f"What it hangs on: {hint}", view, 0)]
    more = (
        "#N is an event's number (`rebalsim trace FILE --event-number N`); `rebalsim explain "
        f"{longest_kind(pause)}` says more of the longest phase."
    )
    lines += ["", *_wrap(more, view, 0, "dim")]
    return "\n".join(lines) + "\n"


def longest_kind(pause: Pause) -> str:
    return max(pause.phases, key=lambda phase: phase.length_us).kind.value


def calm(analysis: Analysis, partition: str, at_us: int, view: View) -> str:
    """What to say where nothing stood still at that moment: who had it, and which pauses come
    before and after.
    """
    lanes = [lane for lane in analysis.lanes if str(lane.partition) == partition]
    lines: list[str] = []
    for lane in lanes:
        holder = next((h.consumer for h in lane.holdings if h.started_us <= at_us < h.ended_us), "")
        said = (
            f"consumed by {safe(holder)}"
            if holder
            else "owned by nobody, and nothing was to be had from it"
        )
        lines += _wrap(
            f"At {say_instant(at_us)} {safe(partition)} did not stand still: it was {said}.",
            view,
            0,
        )
        before = [p for p in lane.pauses if p.ended_us <= at_us]
        after = [p for p in lane.pauses if p.started_us > at_us]
        for pause, word in (
            (before[-1] if before else None, "Before"),
            (after[0] if after else None, "After"),
        ):
            if pause is not None:
                times = f"from {say_instant(pause.started_us)} to {say_instant(pause.ended_us)}"
                lines += _wrap(f"{word} that, {times}: {tell(Together((pause,)))}", view, 0)
        if not lane.pauses:
            lines.append("It never stood still.")
    return "\n".join(lines) + "\n"


def _until(analysis: Analysis, left: list[int], at_us: int, view: View) -> list[str]:
    """The events of the evidence that came before that instant, taken from what is left of it."""
    lines: list[str] = []
    while left and analysis.trace.events[left[0]].at_us < at_us:
        number = left.pop(0)
        event = tell_event(number, analysis.trace.events[number], analysis.header.consumers)
        head = Line(f"{say_instant(event.at_us, 1_000):>11}  ", "dim").add(f"{event.who} ", "bold")
        what = f"{event.name} {event.text}" if event.text.startswith(("→", "←")) else event.text
        lines += _hanging(head, f"{what}  #{number}", view, 13)
    return lines


def _hanging(head: Line, text: str, view: View, indent: int = 0) -> list[str]:
    """The head, and the text wrapped behind it."""
    left = indent or len(head)
    room = max(20, view.width - left)
    wrapped = textwrap.wrap(
        _plain(text, view), room - (len(head) - left), subsequent_indent="", break_on_hyphens=False
    ) or [""]
    first, rest = wrapped[0], " ".join(wrapped[1:])
    return [
        head.add(first).written(view.is_coloured),
        *(" " * left + line for line in textwrap.wrap(rest, room, break_on_hyphens=False)),
    ]


def _wrap(text: str, view: View, indent: int, style: str = "") -> list[str]:
    found = textwrap.wrap(
        _plain(text, view),
        view.width,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    return [Line(line, style).written(view.is_coloured) for line in found]


def _plain(text: str, view: View) -> str:
    return ascii_of(text) if view.is_ascii else text
