"""A reading of logs held against the truth: which shares of it are right.

Rebalances are found by generation, callbacks by the longest common sequence, pauses by overlap. A
moment is right when it lies between what the member's log says and what the application lived
through, within 50 ms or the log's own resolution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalsim.verify.logs_ground_truth import NEAR_MS, Document, GroundTruth

KEYS = (
    "rebalances",
    "begin",
    "trigger kind",
    "trigger member",
    "late member",
    "members' callbacks",
    "callbacks",
    "pauses",
    "start",
    "start as far as logs tell",
    "end",
    "cause",
    "clocks",
)
ERRORS = ("begin", "callback", "start", "end")
SUDDEN = ("killed", "died", "frozen", "hung")
HEARTBEAT_MS = 3_000
FAR = 1 << 30
Callback = tuple[str, tuple[str, ...]]


@dataclass(slots=True)
class Tally:
    """What was judged, what of it was right, and how far off."""

    judged: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    errors: dict[str, list[int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def add(self, what: str, is_right: bool, note: str = "") -> None:
        self.judged[what] += 1
        self.right[what] += is_right
        if not is_right:
            self.wrong.append(f"{what}: {note}")

    def share(self, what: str) -> float | None:
        return 100 * self.right[what] / self.judged[what] if self.judged[what] else None

    def off(self, what: str, ms: int) -> None:
        self.errors.setdefault(what, []).append(ms)


def judge(truth: GroundTruth, told: Document) -> Tally:
    """The judgement by the clock of the broker that makes it best."""
    found = [_judge_by(truth, told, skew) for skew in truth.skews()]
    timed = ("begin", "callbacks", "start", "end", "clocks")
    return max(found, key=lambda tally: sum(tally.right[key] for key in timed))


def _judge_by(truth: GroundTruth, told: Document, skew: int) -> Tally:
    judging = _Judging(truth, truth.t0 + skew)
    groups = told.get("groups", {})
    for group in truth.document["groups"]:
        judging.rebalances(group, groups.get(group, {}).get("rebalances", []))
    judging.callbacks(groups)
    for group in truth.document["groups"]:
        judging.pauses(group, groups.get(group, {}).get("pauses", []))
    judging.clocks(told.get("clocks") or {}, skew)
    return judging.tally


class _Judging:
    def __init__(self, truth: GroundTruth, zero: int) -> None:
        self.truth, self.zero, self.tally = truth, zero, Tally()

    def at(self, told: Any) -> int:
        return int(told) - self.zero

    # ------------------------------------------------------------------------------- rebalances
    def rebalances(self, group: str, told: Sequence[Document]) -> None:
        begun = [r for r in self.truth.document["rebalances"] if r["group"] == group]
        real = {
            r["generation"]: r
            for r in begun
            if r.get("epoch") or r.get("joined") is not None or r.get("end") is not None
        }
        found: dict[object, Document] = {}
        for r in told:
            found.setdefault(r.get("generation"), r)
        for generation, r in real.items():
            answer = found.get(generation)
            self.tally.add("rebalances", answer is not None, f"{group} {generation} not found")
            if answer is not None:
                self._rebalance(f"{group} {generation}", r, answer)
        known = {r["generation"] for r in begun}
        for generation in found:
            if generation not in known:
                self.tally.add("rebalances", False, f"{group} {generation} never was")

    def _rebalance(self, name: str, real: Document, told: Document) -> None:
        add, member = self.tally.add, self.truth.member
        if self.truth.has_broker:
            off = FAR if told.get("begin") is None else abs(self.at(told["begin"]) - real["begin"])
            if off < FAR:
                self.tally.off("begin", off)
            add("begin", off <= NEAR_MS, f"{name}: {off} ms off")
        trigger, answer = real["trigger"], told.get("trigger") or {}
        if trigger["kind"] != "other":
            is_right = answer.get("kind") == trigger["kind"]
            add("trigger kind", is_right, f"{name}: {answer.get('kind')}, not {trigger['kind']}")
        if trigger.get("member"):
            who = member(answer.get("member"))
            add(
                "trigger member",
                who == trigger["member"],
                f"{name}: {who}, not {trigger['member']}",
            )
        late = real.get("late") or {}
        if late.get("member") and late["ms"] >= 500:
            who = member((told.get("late") or {}).get("member"))
            add("late member", who == late["member"], f"{name}: {who}, not {late['member']}")

    # -------------------------------------------------------------------------------- callbacks
    def callbacks(self, groups: Document) -> None:
        told: dict[str, list[tuple[int, Callback]]] = {}
        for group in groups.values():
            for c in group.get("callbacks", []):
                if c.get("partitions"):
                    entry = (self.at(c["t"]), (c["kind"], tuple(sorted(c["partitions"]))))
                    told.setdefault(str(self.truth.member(c["member"])), []).append(entry)
        real = self._real_callbacks()
        known = set(self.truth.names.values())
        more = {m for m in told if m in known and self.truth.is_logged(m)}
        for member in sorted(set(real) | more):
            cut = self.truth.cut.get(member.split("/")[0], -FAR)
            mine = sorted((c for c in told.get(member, []) if c[0] >= cut), key=lambda c: c[0])
            self._sequence(member, real.get(member, []), mine)

    def _real_callbacks(self) -> dict[str, list[tuple[int, int, Callback]]]:
        """Per member (when its log says it, when it lived it, what), as far as its log reaches."""
        found: dict[str, list[tuple[int, int, Callback]]] = {}
        for e in self.truth.document["events"]:
            is_one = e["ev"] in ("assigned_begin", "revoked_begin", "lost_begin")
            if is_one and e["partitions"] and self.truth.is_seen(e["member"], e["t"]):
                what = (e["ev"].removesuffix("_begin"), tuple(sorted(e["partitions"])))
                found.setdefault(e["member"], []).append((e.get("logged", e["t"]), e["t"], what))
        return found

    def _sequence(
        self,
        member: str,
        real: Sequence[tuple[int, int, Callback]],
        told: Sequence[tuple[int, Callback]],
    ) -> None:
        first, second = [r[2] for r in real], [t[1] for t in told]
        self.tally.add("members' callbacks", first == second, f"{member}: {len(second)}")
        pairs = common(first, second)
        for i, j in pairs:
            off = outside(told[j][0], real[i][0], real[i][1])
            self.tally.off("callback", off)
            is_near = off <= self.truth.tolerance(member)
            self.tally.add("callbacks", is_near, f"{member} {first[i]}: {off} ms off")
        missing = len(first) - len(pairs)
        for n in range(missing + len(second) - len(pairs)):
            self.tally.add("callbacks", False, f"{member}: {'missing' if n < missing else 'extra'}")

    # ----------------------------------------------------------------------------------- pauses
    def pauses(self, group: str, told: Sequence[Document]) -> None:
        by_partition: dict[str, list[Document]] = {}
        for p in told:
            by_partition.setdefault(p["partition"], []).append(p)
        used: set[int] = set()
        for p in self.truth.document["pauses"]:
            if p["group"] == group and self._is_judged(p):
                answers = by_partition.get(p["partition"], [])
                best = self._best(p, [a for a in answers if id(a) not in used])
                name = f"{group} {p['partition']} {p['start']}..{p['end']} {p['start_event']}"
                self.tally.add("pauses", best is not None, f"{name}: not found")
                if best is not None:
                    used.add(id(best))
                    self._pause(name, p, best)
        members = self.truth.document["groups"][group]["members"]
        if any(self.truth.is_logged(m) for m in members):
            for answers in by_partition.values():
                for answer in answers:
                    if id(answer) not in used and self._never_was(group, answer):
                        self.tally.add("pauses", False, f"{group} {answer['partition']}: never was")

    def _is_judged(self, p: Document) -> bool:
        truth = self.truth
        if p.get("silent") or not truth.is_seen(p["from"], int(p.get("seen") or p["start"])):
            return False
        return p["end"] is None or truth.is_seen(str(p.get("to") or ""), int(p["end"]))

    def _span(self, answer: Document) -> tuple[int, int]:
        end = answer.get("end")
        return self.at(answer["start"]), self.truth.end if end is None else self.at(end)

    def _best(self, p: Document, answers: Sequence[Document]) -> Document | None:
        end = self.truth.end if p["end"] is None else p["end"]
        best, over = None, -NEAR_MS
        for answer in answers:
            begin, until = self._span(answer)
            if (shared := min(end, until) - max(p["start"], begin)) > over:
                best, over = answer, shared
        return best

    def _pause(self, name: str, p: Document, told: Document) -> None:
        add, off_by = self.tally.add, self.tally.off
        near = self.truth.tolerance(p["from"], p.get("to"))
        start, begin = int(p["start"]), self.at(told["start"])
        off = outside(begin, int(p.get("start_logged", start)), start)
        off_by("start", off)
        add("start", off <= near, f"{name}: starts at {begin}")
        low = start - near - (HEARTBEAT_MS if p["start_event"] in SUDDEN else 0)
        high = max(start, p.get("seen", start)) + near
        add("start as far as logs tell", low <= begin <= high, f"{name}: starts at {begin}")
        end = told.get("end")
        if p["end"] is None:
            add("end", end is None or self.at(end) >= self.truth.end - 1_000, f"{name}: ends")
        else:
            off = (
                FAR
                if end is None
                else outside(self.at(end), int(p.get("end_logged") or p["end"]), p["end"])
            )
            off_by("end", min(off, 10**6))
            add("end", off <= near, f"{name}: ends {off} ms off")
        self._cause(name, p.get("cause") or {}, told.get("cause") or {})

    def _cause(self, name: str, real: Document, told: Document) -> None:
        if real.get("kind") in (None, "unknown"):
            return
        who = self.truth.member(told.get("member"))
        is_right = told.get("kind") == real["kind"] and (
            not real.get("member") or who == real["member"]
        )
        self.tally.add("cause", is_right, f"{name}: {told.get('kind')} {who}, not {real}")

    def _never_was(self, group: str, answer: Document) -> bool:
        begin, until = self._span(answer)
        if until - begin <= 200:
            return False
        for p in self.truth.document["pauses"]:
            if p["partition"] == answer["partition"] and p["group"] == group:
                end = self.truth.end if p["end"] is None else p["end"]
                if p["start"] - 100 <= until and end + 100 >= begin:
                    return False  # a part of a pause, or a pause that is not judged
        owned = (
            e["t"]
            for e in self.truth.document["events"]
            if e["ev"] == "assigned_begin" and answer["partition"] in e["partitions"]
        )
        return begin > next(owned, self.truth.end) + 100

    # ----------------------------------------------------------------------------------- clocks
    def clocks(self, told: Document, skew: int) -> None:
        for file, meta in self.truth.document["files"].items():
            if file in told and "holds" not in meta and "skew_steps" not in meta:
                off = abs(told[file] - meta.get("skew_ms", 0) + skew)
                self.tally.add("clocks", off <= 100, f"{file}: {told[file]} ms, {off} off")


def outside(told: int, first: int, second: int) -> int:
    """How far a moment lies outside of the span between two others."""
    return max(0, min(first, second) - told, told - max(first, second))


def common(first: Sequence[Callback], second: Sequence[Callback]) -> list[tuple[int, int]]:
    """The longest sequence that both have, as pairs of places."""
    rows, columns = len(first), len(second)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            same = first[i] == second[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < rows and j < columns:
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
