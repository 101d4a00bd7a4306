"""The bars of a variant as styled lines: a ruler, the script, the group's lane, a line a
partition. Colour helps, and nothing hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalsim.analysis.values import Copy, Lane, Mark
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_states import KafkaGroupState, KafkaStreamsState
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.ink import Line
from rebalsim.reports.names import ascii_of, clip, clip_middle, partitions_told, safe
from rebalsim.reports.palette import (
    BRIEF,
    BY_LETTER,
    CONSUMING,
    LOOKS,
    PIECES,
    STATE_LOOKS,
    UNOWNED,
)
from rebalsim.reports.phases.card import cards
from rebalsim.reports.report import VariantReport
from rebalsim.reports.ruler import place, place_clipped, ticks
from rebalsim.reports.script_marks import ranked
from rebalsim.reports.terminal_load import load_rows
from rebalsim.reports.timeline import (
    COPYING,
    FOLLOWING,
    Row,
    Window,
    choose,
    codes_of_copies,
    codes_of_states,
    fill,
    fold,
    lay_out,
    runs,
    tracks,
)
from rebalsim.reports.view import View
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

NOT_RUNNING, RUNNING = "n", "r"  # an application of Kafka Streams
APPLICATION = {NOT_RUNNING: ("▒", "yellow"), RUNNING: ("─", "green"), BRIEF: ("╎", "yellow")}
COPIES = {  # standbys and warm-ups
    FOLLOWING: ("┄", "cyan", "standby, caught up"),
    COPYING: ("·", "cyan", "standby copying"),
}
REMARK = 20  # columns at the right for what the longest pause was
STATES = {look[0]: (state, look) for state, look in STATE_LOOKS.items()}
STATES_SAID: dict[str, str] = {
    KafkaGroupState.EMPTY: "empty",
    KafkaGroupState.PREPARING_REBALANCE: "members join",
    KafkaGroupState.COMPLETING_REBALANCE: "assignment is awaited",
    KafkaGroupState.ASSIGNING: "broker computes",
    KafkaGroupState.RECONCILING: "members reconcile",
    KafkaGroupState.DEAD: "dead",
}


class Canvas:
    """Where the bars of one report lie: its columns are the same for all variants."""

    def __init__(self, view: View, lanes: Sequence[Lane], horizon_us: int) -> None:
        self.view = view
        longest = max((len(safe(str(lane.partition))) for lane in lanes), default=9)
        self.label = max(9, min(longest, view.width // 4))
        from_us, until_us = view.window(horizon_us)
        self.window = Window(
            from_us, until_us, max(16, view.width - 2 - self.label - 1 - 1 - REMARK)
        )
        self.prefix = common_prefix([owner for lane in lanes for owner in lane.owners])
        self.kinds: dict[PhaseKind, None] = {}  # what was drawn, for the legend
        self.states: dict[str, None] = {}
        self.copies: dict[str, None] = {}  # the kinds of stretches of copies that were drawn
        self.has_brief = False
        self.is_rebalancing = False

    # ---------------------------------------------------------------------------------------- lines

    def ruler(self) -> list[Line]:
        """Round instants above the bars."""
        return [
            self._line("", Line(row, "dim"), "")
            for row in place(ticks(self.window, 10), self.view.width - 3 - self.label, 1)
        ]

    def script(self, marks: Sequence[Mark]) -> list[Line]:
        """What was done to the world, at its instants."""
        told = ranked(m for m in marks if self.window.holds(m.at_us))
        labels = [(self.window.column(m.at_us), "▼" + safe(m.text or m.action)) for m, _ in told]
        rows = place_clipped(
            labels,
            self.view.width - 3 - self.label,
            [rank for _, rank in told],
            (40, 24, 16),
            self.view.is_ascii,
        )
        return [
            self._line("script" if i == 0 else "", Line(row, "bold"), "")
            for i, row in enumerate(rows)
        ]

    def group(self, variant: VariantReport, group: str, is_named: bool) -> Line:
        """The group's states, and how many rebalances that were."""
        codes = codes_of_states(variant.analysis.group_states[group], self.window)
        overlaps = self.window.overlaps
        count = sum(
            overlaps(r.prepared_us, max(r.barrier_us, r.stable_us, r.settled_us) + 1)
            for r in variant.analysis.rebalances
            if r.group == group and not r.is_formation
        )
        bar = Line()
        for _, length, code in runs(codes):
            if code == BRIEF:
                self.has_brief = True
                bar.add("╎" * length, "yellow")
            elif code in STATES:
                state, (letter, fill, _, style) = STATES[code]
                if state in STATES_SAID:
                    self.states[state] = None
                bar.add(letter + fill * (length - 1), style)
            else:
                bar.add(" " * length)
        return self._line(safe(group) if is_named else "group", bar, plural(count, "rebalance"))

    def application(self, variant: VariantReport, group: str, is_named: bool) -> list[Line]:
        """Kafka Streams: where not all instances that are up are RUNNING."""
        spans = variant.analysis.application_states.get(group)
        if not spans:
            return []
        pieces = [(s.started_us, s.ended_us, s.state) for s in spans]
        codes = fill(
            [
                (a, b, RUNNING if s == KafkaStreamsState.RUNNING else NOT_RUNNING)
                for a, b, s in pieces
            ],
            self.window,
            quiet=(UNOWNED, RUNNING),
            brief=BRIEF,
        )
        bar = Line()
        for _, length, code in runs(codes):
            self.has_brief = self.has_brief or code == BRIEF
            if code == NOT_RUNNING:
                self.is_rebalancing = True
            sign, style = APPLICATION.get(code, (" ", ""))
            bar.add(sign * length, style)
        away = sum(b - a for a, b, s in pieces if s != KafkaStreamsState.RUNNING and a > 0)
        told = f"{say_duration(away)} not RUNNING" if away else KafkaStreamsState.RUNNING
        return [self._line("  state" if is_named else "app", bar, told)]

    def load(self, variant: VariantReport) -> list[Line]:
        """Members and lag, where an autoscaler is at work."""
        rows = load_rows(variant.analysis, self.window, self.view.is_ascii)
        return [self._line(label, Line(bar, "dim"), said) for label, bar, said in rows]

    def partitions(
        self, lanes: Sequence[Lane], copies: Mapping[tuple[str, Partition], Sequence[Copy]]
    ) -> list[Line]:
        """A line for each group of equal partitions, those that stood still longest if there are
        too many; and thinly beneath it the copies of its task.
        """
        folded = fold(lay_out(lanes, self.window))
        shown = choose(folded, self.view.most_rows)
        lines = []
        for row in shown:
            lines.append(self._line(safe(str(row.lane.partition)), self._bar(row), remark(row)))
            lines += self._copies(copies.get((row.lane.group, row.lane.partition), ()))
            if row.alike:
                told = (
                    f"+{len(row.alike):,} like this: "
                    f"{partitions_told(lane.partition for lane in row.alike)}"
                )
                lines.append(Line("    " + self._plain(clip(told, self.view.width - 4)), "dim"))
        left = sum(1 + len(row.alike) for row in folded) - sum(1 + len(row.alike) for row in shown)
        if left:
            lines.append(Line(f"    and {plural(left, 'partition')} that stood still less", "dim"))
        return lines

    def _copies(self, copies: Sequence[Copy]) -> list[Line]:
        """Who follows the task, or is still copying: a line for each that does at a time."""
        lines = []
        for track in tracks([c for c in copies if self.window.overlaps(c.started_us, c.ended_us)]):
            codes = codes_of_copies(track, self.window)
            names = {self._where_named(copy): safe(copy.consumer) for copy in track}
            bar = Line()
            for column, length, code in runs(codes):
                self.copies[code] = None
                self._thin(bar, column, length, code, names)
            told = "warm-up" if all(copy.is_warmup for copy in track) else "standby"
            lines.append(self._line(told.rjust(self.label), bar, ""))
        return lines

    def _where_named(self, copy: Copy) -> int:
        """Where it begins, or where it was caught up if that was soon."""
        start, caught_up_us = self.window.column(copy.started_us), copy.caught_up_us
        if caught_up_us is None or not self.window.holds(caught_up_us):
            return start
        caught_up = self.window.column(caught_up_us)
        return caught_up + 1 if caught_up - start < len(copy.consumer) + 2 else start

    def _thin(
        self, bar: Line, column: int, length: int, code: str, names: Mapping[int, str]
    ) -> None:
        """A stretch of a copy, with who has it where it begins, if there is room."""
        sign, style, _ = COPIES.get(code, (" ", "", ""))
        at = column
        for start in sorted(n for n in names if column <= n < column + length):
            name = self._plain(names[start])
            room = min((n for n in names if n > start), default=column + length) - start
            if start >= at and len(name) + 2 <= min(room, column + length - start):
                bar.add(sign * (start + 1 - at), style).add(name, "dim")
                at = start + 1 + len(name)
        bar.add(sign * (column + length - at), style)

    def legend(self) -> list[Line]:
        """What the signs mean that were drawn, on as many lines as it takes."""
        piece = PIECES[BarPiece.CONSUMING]
        items = [self._sign(piece.sign, piece.style, piece.meaning)]
        if self.has_brief:
            items.append(self._sign("╎", "bold", "shorter than half a column"))
        for kind in PhaseKind:
            if kind in self.kinds:
                look = LOOKS[kind]
                meaning = cards()[kind].label or kind.value
                items.append(self._sign(look.letter + look.fill, look.style, meaning))
        for code, (sign, style, meaning) in COPIES.items():
            if code in self.copies:
                items.append(self._sign(sign, style, meaning))
        if self.is_rebalancing:
            items.append(self._sign("▒", "yellow", "application not RUNNING"))
        for state in self.states:
            letter, fill, _, style = STATE_LOOKS[state]
            items.append(self._sign((letter + fill).strip(), style, STATES_SAID[state]))
        lines = [Line("  ")]
        for item in items:
            if len(lines[-1]) + 2 + len(item) > self.view.width and len(lines[-1]) > 2:
                lines.append(Line("  "))
            lines[-1].add("  " if len(lines[-1]) > 2 else "").add_line(item)
        return lines

    def _sign(self, sign: str, style: str, meaning: str) -> Line:
        return Line(sign.translate(_TWINS) if self.view.is_ascii else sign, style).add(
            f" {meaning}"
        )

    # ------------------------------------------------------------------------------------- one line

    def _line(self, label: str, bar: Line, remark_text: str) -> Line:
        line = Line(
            "  "
            + clip_middle(self._plain(label), self.label, self.view.is_ascii).ljust(self.label)
            + " "
        )
        for text, style in bar.pieces:
            line.add(text.translate(_TWINS) if self.view.is_ascii else text, style)
        if remark_text:
            line.pad_to(2 + self.label + 1 + self.window.columns + 1)
            told = self._plain(remark_text)
            line.add(
                clip(
                    told if len(told) <= REMARK else told.replace(" ×", "×").replace(" x", "x"),
                    REMARK,
                    self.view.is_ascii,
                )
            )
        return line

    def _names_in(self, row: Row) -> dict[int, str]:
        """Column → the owner's name, or as much of it as there is room for."""
        names: dict[int, str] = {}
        for column, owner in row.owners:
            start = row.codes.find(CONSUMING, column)
            end = next(
                (i for i in range(start, len(row.codes)) if row.codes[i] != CONSUMING),
                len(row.codes),
            )
            whole = self._plain(safe(owner))
            is_prefixed = self.prefix and whole.startswith(self.prefix)
            shorter = "…" + whole[len(self.prefix) :] if is_prefixed else ""
            for name in (whole, shorter):
                if name and start >= 0 and end - start >= len(name) + 2:
                    names[start] = name
                    break
        return names

    def _bar(self, row: Row) -> Line:
        """The bar's signs by runs, with owners' names written into the stretch where they begin
        to consume, if there is room for them.
        """
        names = self._names_in(row)
        bar = Line()
        begins = {
            self.window.column(p.started_us)
            for p in row.pauses
            if p.started_us >= self.window.from_us
        }
        for column, length, code in runs(row.codes):
            if code == CONSUMING:
                self._consuming(bar, column, length, names)
            elif code == UNOWNED:
                bar.add(" " * length)
            elif code == BRIEF:
                self.has_brief = True
                bar.add("╎" * length, "bold")
            else:
                kind = BY_LETTER[code]
                self.kinds[kind] = None
                # the next pause's letter
                rest = "".join(
                    code if at in begins else LOOKS[kind].fill
                    for at in range(column + 1, column + length)
                )
                bar.add(code + rest, LOOKS[kind].style)
        return bar

    def _consuming(self, bar: Line, column: int, length: int, names: dict[int, str]) -> None:
        look, at = PIECES[BarPiece.CONSUMING], column
        for start in sorted(n for n in names if column <= n < column + length):
            bar.add(look.sign * (start + 1 - at), look.style).add(names[start], "bold")
            at = start + 1 + len(names[start])
        bar.add(look.sign * (column + length - at), look.style)

    def _plain(self, text: str) -> str:
        return ascii_of(text) if self.view.is_ascii else text


MOST = 0.8  # of a pause is told as all of it


def remark(row: Row) -> str:
    """The longest pause, and what most of it was: `33.1 s barrier ×3`; where that is less than
    most of it, how long: `28 ms, 12 ms fetch`.
    """
    longest = row.longest
    if longest is None:
        return ""
    phase = max(longest.phases, key=lambda p: p.length_us)
    length, kind = say_duration(longest.length_us), phase.kind.value
    is_most = MOST * longest.length_us <= phase.length_us
    text = f"{length} {kind}" if is_most else f"{length}, {say_duration(phase.length_us)} {kind}"
    return text if len(row.pauses) == 1 else f"{text} ×{len(row.pauses)}"


def common_prefix(names: Sequence[str]) -> str:
    """What all names begin with, up to a dash: what is left out where there is no room for whole
    names.
    """
    distinct = sorted(dict.fromkeys(names))
    if len(distinct) < 2:
        return ""
    first, last = distinct[0], distinct[-1]
    shared = next(
        (i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last))
    )
    return first[: first[:shared].rfind("-") + 1]


_TWINS = str.maketrans(
    {
        "━": "=",
        "─": "-",
        "╎": "!",
        "┄": ".",
        "·": ":",
        "█": "#",
        "▓": "%",
        "▒": "*",
        "░": ":",
        "▼": "v",
        "…": "~",
        "→": ">",
        "−": "-",
        "×": "x",
    }
)
