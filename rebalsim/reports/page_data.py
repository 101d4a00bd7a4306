"""What the page's script is given: timelines, pauses, marks and lag as rows of whole numbers, every
text once.

Times are µs, records tenths. The order within rows is documented at each function and read by
page/*.js, which gets those of `PACKED` in short.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.running import running
from rebalsim.analysis.values import Lane, Pause
from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.causes_told import tell_cause
from rebalsim.reports.events_told import tell_event
from rebalsim.reports.hints import hint_on
from rebalsim.reports.names import safe
from rebalsim.reports.palette import LOOKS, STATE_LOOKS
from rebalsim.reports.phases.card import cards
from rebalsim.reports.remedies_told import remedies_for, tell_remedy
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.script_marks import ranked
from rebalsim.reports.sentences import tell_phase, tell_standstill
from rebalsim.reports.terminal_bars import STATES_SAID, common_prefix
from rebalsim.reports.timeline import Window, fold, lay_out, tracks

FOLD_COLUMNS = (
    400  # partitions that look alike on so many columns share a row until they are unfolded
)
LAG_POINTS, LANE_LAG_POINTS, LANE_LAGS = 600, 80, 40
EVIDENCE = 24  # event numbers a pause at most
MOST_EVENTS = 600  # of a variant are told in words, those of the longest pauses first
# of a variant, so that a page stays a page; the partitions that stood still longest have all of
# theirs
MOST_PAUSES = 30_000
KINDS = tuple(PhaseKind)
WEAVES = {"█": 0, "▓": 1, "▒": 1, "░": 2}  # plain, striped, ruled
PACKED = ("lanes", "pauses", "shapes", "rows", "events", "lag", "laneLag", "copies")
APPLICATION_SAID = {
    KafkaStreamsState.RUNNING: "all instances run",
    KafkaStreamsState.REBALANCING: "not all instances run (interactive queries)",
    KafkaStreamsState.ERROR: "an instance died of an exception",
}
Row = list[Any]


class Once:
    """Things in the order in which they were first seen, each told by its place."""

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}
        self.things: list[Any] = []

    def place(self, key: Hashable, thing: Any = None) -> int:
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = len(self.things)
            self.things.append(key if thing is None else thing)
        return found


def data_of(report: Report) -> dict[str, Any]:
    """Everything that is drawn. `texts` holds every string of the variants, told by its place."""
    texts = Once()
    variants = [_variant(v, texts) for v in report.variants]
    lanes = [lane for v in report.variants for lane in v.analysis.lanes]
    return {
        "horizon": report.horizon_us,
        "kinds": [
            {
                "name": k.value,
                "letter": LOOKS[k].letter,
                "title": cards()[k].title,
                "weave": WEAVES[LOOKS[k].fill],
            }
            for k in KINDS
        ],
        "states": {
            **{name: STATES_SAID.get(name, "stable") for name in STATE_LOOKS},
            **APPLICATION_SAID,
        },
        "prefix": common_prefix([owner for lane in lanes for owner in lane.owners]),
        "variants": variants,
        "texts": texts.things,
    }


def lanes_shown(a: Analysis) -> list[Lane]:
    """All partitions, or, where their pauses are too many for a page, those that stood still
    longest.
    """
    if len(a.pauses) <= MOST_PAUSES:
        return a.lanes
    worst = sorted(
        range(len(a.lanes)), key=lambda i: (-sum(p.length_us for p in a.lanes[i].pauses), i)
    )
    kept: list[int] = []
    left = MOST_PAUSES
    for i in worst:
        left -= len(a.lanes[i].pauses)
        if left < 0 and kept:
            break
        kept.append(i)
    return [a.lanes[i] for i in sorted(kept)]


def _variant(v: VariantReport, texts: Once) -> dict[str, Any]:
    a = v.analysis
    pauses, shapes = Once(), Once()
    shown = lanes_shown(a)
    lanes = [_lane(lane, a, texts, pauses, shapes) for lane in shown]
    return {
        "name": safe(v.name),
        "title": safe(v.title),
        "file": safe(v.file),
        "horizon": a.horizon_us,
        "groups": [
            [
                texts.place(safe(g)),
                [[texts.place(s.state), s.started_us, s.ended_us] for s in a.group_states[g]],
            ]
            for g in a.groups
        ],
        "apps": [
            [
                texts.place(safe(group) + " state" if len(a.groups) > 1 else "app"),
                [[texts.place(s.state), s.started_us, s.ended_us] for s in spans],
            ]
            for group, spans in a.application_states.items()
        ],
        "copies": _copies(a, shown, texts),
        "lanes": lanes,
        "pauses": pauses.things,
        "shapes": shapes.things,
        "rows": _rows(a, shown),
        "marks": [
            [m.at_us, m.kind, texts.place(safe(m.text or m.action)), rank]
            for m, rank in ranked(a.marks)
        ],
        "rounds": [
            [r.barrier_us, r.generation, a.groups.index(r.group)]
            for r in a.rebalances
            if r.barrier_us >= 0 and not r.is_formation
        ],
        "events": _events(a, shown, texts),
        "lag": thinned(a.lag_book.total(list(a.lag_book.corners)), LAG_POINTS),
        "laneLag": _lane_lags(a, shown),
        "members": [list(step) for step in running(a)],
        "remedies": _remedies(v, texts),
    }


def _copies(a: Analysis, lanes: Sequence[Lane], texts: Once) -> list[Row]:
    """[lane's place, who, started, caught up (its end where it never was), ended, is it a warm-up,
    line beneath the lane] of each standby.
    """
    return [
        [
            place,
            texts.place(safe(copy.consumer)),
            copy.started_us,
            copy.ended_us if copy.caught_up_us is None else copy.caught_up_us,
            copy.ended_us,
            int(copy.is_warmup),
            line,
        ]
        for place, lane in enumerate(lanes)
        for line, track in enumerate(tracks(a.copies.get((lane.group, lane.partition), ())))
        for copy in track
    ]


def _remedies(v: VariantReport, texts: Once) -> list[Row]:
    """[cause's text, arrow's text] of what was tried and helps the pauses of that cause."""
    found: dict[tuple[int, int], None] = {}
    for p in v.analysis.pauses if v.remedies else ():
        for remedy in remedies_for(p, v.remedies):
            cause = "" if p.why is PauseStart.CALLBACK else tell_cause(p.cause)
            found[texts.place(cause), texts.place(tell_remedy(remedy))] = None
    return [list(pair) for pair in found]


def _lane(lane: Lane, a: Analysis, texts: Once, pauses: Once, shapes: Once) -> Row:
    """[name, group's place, how many numbers of runs, pauses' places in runs, when it was first
    had, who consumed before each pause and after the last]; −1 where nobody could.

    A partition is consumed wherever it does not stand still, so that beginnings and ends need no
    telling.
    """
    starts = {
        s.started_us: texts.place(safe(s.consumer))
        for s in lane.segments
        if s.what is BarPiece.CONSUMING
    }
    first = next(
        (s.started_us for s in lane.segments if s.what is not BarPiece.UNOWNED), a.horizon_us
    )
    owners = [starts.get(at, -1) for at in (first, *(p.ended_us for p in lane.pauses))]
    runs = in_runs([_pause(p, a, texts, pauses, shapes) for p in lane.pauses])
    return [
        texts.place(safe(str(lane.partition))),
        a.groups.index(lane.group),
        len(runs),
        *runs,
        first,
        *owners,
    ]


def in_runs(numbers: Sequence[int]) -> list[int]:
    """[first, how many, first, how many …]: numbers that follow upon each other take no room."""
    found: list[int] = []
    for number in numbers:
        if found and number == found[-2] + found[-1]:
            found[-1] += 1
        else:
            found += [number, 1]
    return found


def in_steps(numbers: Sequence[int]) -> list[int]:
    """The first one, and how far it is from each to the next."""
    return [number - before for before, number in zip((0, *numbers), numbers)]


def _pause(p: Pause, a: Analysis, texts: Once, pauses: Once, shapes: Once) -> int:
    """[shape's place, started, is it open, last event, length of each phase …]. What pauses of
    one disturbance have in common is a shape: [owner before, owner after, cause, hint, how many
    numbers of phases, kind, text, …, events in steps].
    """
    # one phase, which is the cause as well: all of the sentence stands in it
    is_alone = p.why is PauseStart.CALLBACK
    told_phases = (
        [tell_standstill(p)]
        if is_alone
        else [tell_phase(phase, p.owner_after) for phase in p.phases]
    )
    kinds = tuple(
        x
        for phase, told in zip(p.phases, told_phases)
        for x in (KINDS.index(phase.kind), texts.place(told))
    )
    proof = tuple(n for n in p.cause.evidence if n != p.end_event)[:EVIDENCE]
    words = (
        safe(p.owner_before),
        safe(p.owner_after),
        "" if is_alone else tell_cause(p.cause),
        hint_on(p, a),
    )
    shape = (*map(texts.place, words), kinds, proof)
    place = shapes.place(shape, [*shape[:4], len(kinds), *kinds, *in_steps(proof)])
    told = (
        place,
        p.started_us,
        int(p.is_open),
        p.end_event,
        *(phase.length_us for phase in p.phases),
    )
    return pauses.place(told, list(told))


def _events(a: Analysis, lanes: Sequence[Lane], texts: Once) -> list[Row]:
    """[number, at, who, what] of the events that the pauses rest on, by number; a result that
    was read back has none.
    """
    longest = sorted(
        (p for lane in lanes for p in lane.pauses),
        key=lambda p: (-p.length_us, p.started_us, p.partition),
    )
    wanted: dict[int, None] = {}
    for p in longest:
        if len(wanted) >= MOST_EVENTS:
            break
        wanted.update(
            (n, None)
            for n in (*p.cause.evidence[:EVIDENCE], p.end_event)
            if 0 <= n < len(a.trace.events)
        )
    told = [tell_event(n, a.trace.events[n], a.header.consumers) for n in sorted(wanted)]
    return [
        [
            t.number,
            t.at_us,
            texts.place(t.who),
            texts.place(f"{t.name} {t.text}" if t.text.startswith(("→", "←")) else t.text),
        ]
        for t in told
    ]


def _rows(a: Analysis, lanes: Sequence[Lane]) -> list[list[int]]:
    """Lanes by row: the first of those that look alike, then the others; in steps."""
    place = {(lane.group, lane.partition): i for i, lane in enumerate(lanes)}
    window = Window(0, max(a.horizon_us, 1), FOLD_COLUMNS)
    return [
        in_steps([place[lane.group, lane.partition] for lane in (row.lane, *row.alike)])
        for row in fold(lay_out(lanes, window))
    ]


def _lane_lags(a: Analysis, lanes: Sequence[Lane]) -> list[Row]:
    """[lane's place, step, records, step, records …] of the partitions that lagged most."""
    place = {(lane.group, lane.partition): i for i, lane in enumerate(lanes)}
    worst = sorted((c for c in a.lag if c.peak > 0), key=lambda c: (-c.peak, c.partition))[
        :LANE_LAGS
    ]
    found = []
    for c in worst:
        if (c.group, c.partition) in place:
            points = thinned(c.corners, LANE_LAG_POINTS)
            steps = in_steps([at for at, _ in points])
            found.append(
                [
                    place[c.group, c.partition],
                    *(
                        number
                        for step, (_, tenths) in zip(steps, points)
                        for number in (step, tenths)
                    ),
                ]
            )
    return found


def thinned(points: Sequence[tuple[int, float]], most: int) -> list[list[int]]:
    """At most so many points as [at, tenths of a record]: of each stretch the first, the lowest, the
    highest and the last. So no peak is lost, and where nothing was told for long the line runs as it
    ran, and not down from a peak that was over at once.
    """
    if len(points) > most:
        points = [p for part in _stretches(points, most // 8 - 1) for p in _outline(part)]
    return [[at, round(10 * value) if value < 100 else 10 * round(value)] for at, value in points]


def _stretches(
    points: Sequence[tuple[int, float]], many: int
) -> Iterator[Sequence[tuple[int, float]]]:
    """So many of as many points each, parted once more where a long time lies between two."""
    long, size = (points[-1][0] - points[0][0]) / many, -(-len(points) // many)
    start = 0
    for place in range(1, len(points)):
        if place - start == size or points[place][0] - points[place - 1][0] > long:
            yield points[start:place]
            start = place
    yield points[start:]


def _outline(part: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    values = [value for _, value in part]
    places = {0, values.index(min(values)), values.index(max(values)), len(part) - 1}
    return [part[place] for place in sorted(places)]
