"""What conversations with a coordinator of epochs (consumer groups, streams groups) share: the
clock, the timers, the requests in their turn, the comparison, and the form of what is read.

Timers of a millisecond fire before the requests of that millisecond, first set first; then come
the answers, then the group's state if it changed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rebalsim.domain.errors import BugError, InputError
from rebalsim.outside.documents import parse_json
from rebalsim.protocol.effects import Effect
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.verify.epoch_states import ToldStates
from rebalsim.verify.same_lines import Astray, Line, is_same, ties_apart
from rebalsim.verify.timer_queue import MS, TimerQueue

MOST_PARTITIONS = 100_000


class EpochReplay(ABC):
    """One conversation played by the rules: yields the lines that a recording of it would hold."""

    # timers that are threads of the broker: one of them at the same time as another is no tie
    threads: frozenset[str] = frozenset()
    # what is done to the coordinator without a request of its own
    unasked = frozenset(("metadata", "config"))

    def __init__(self, conversation: Line, group: Any) -> None:
        self.steps: list[Line] = conversation["steps"]
        self.end: int = conversation["end"]
        self.group = group
        self.timers = TimerQueue()
        self.ties: list[int] = []
        self.states = ToldStates(group, self.target_of)
        self.now = 0
        self.asked = 0

    @abstractmethod
    def done(self, step: Line, t: int) -> Iterator[Line]:
        """What one step comes to: the answers."""

    @abstractmethod
    def heard(self, step: Line, now_us: int) -> Iterable[Effect]:
        """What a heartbeat comes to."""

    @abstractmethod
    def assigned(self, answer: Any) -> Line:
        """What an answer without an error tells of the assignment, in the recording's form."""

    def answered(self, step: Line, t: int) -> Iterator[Line]:
        """The answers that a heartbeat leads to: its own, and others' that timers bring about."""
        replies = self.timers.apply(self.heard(step, t * MS))
        self.fire(t)
        for reply in replies:
            answer = reply.response
            line: Line = {"t": t, "reply": reply.request, "error": answer.error.name}
            if answer.error is Error.NONE:
                line["member"] = answer.member_id
                line["epoch"] = answer.epoch
                line["heartbeat_interval_ms"] = answer.heartbeat_interval_us // MS
                line |= self.assigned(answer)
            yield line

    @abstractmethod
    def timer_fired(self, key: str, now_us: int) -> Iterable[Effect]:
        """What a timer that is due comes to."""

    @abstractmethod
    def target_of(self, member: str) -> Any:
        """A member's target in the recording's form."""

    def lines(self) -> Iterator[Line]:
        """What a recording of this conversation holds, requests included."""
        for step in self.steps:
            if "do" not in step:
                continue
            t = step["t"]
            if t < self.now:
                raise Astray(f"the request is of {t} ms, but it is {self.now} ms already")
            yield from self._until(t)
            self.now = t
            if step["do"] not in self.unasked:
                self.asked += 1
                if step["id"] != self.asked:
                    raise Astray(f"the request should have id {self.asked}, not {step['id']}")
            yield step
            yield from self.done(step, t)
            yield from self.states.news(t)
        if self.end < self.now:
            raise Astray(f"the recording ends at {self.end} ms, but it is {self.now} ms already")
        yield from self._until(self.end)

    def _until(self, t: int) -> Iterator[Line]:
        """Fire all timers up to and including t; those of one ms make one batch."""
        while (now := self.timers.next_ms(t)) is not None:
            self.fire(now)
            yield from self.states.news(now)

    def fire(self, t: int) -> None:
        """Fire the timers of this millisecond."""
        fired = 0
        while self.timers.next_ms(t) is not None:
            key = self.timers.pop()
            self.timers.apply(self.timer_fired(key, t * MS))
            fired += key not in self.threads
        if fired > 1:
            self.ties.append(t)


def first_difference(conversation: Line, replay: EpochReplay) -> Line | None:
    """The first place where our coordinator says something else than Kafka's; None if there is
    none.
    """
    theirs: list[Line] = conversation["steps"]
    at = 0
    asked: Line | None = None
    try:
        for mine in replay.lines():
            kafka = theirs[at] if at < len(theirs) else None
            if kafka is None or not is_same(mine, kafka):
                return _difference(at, mine["t"], asked, kafka, mine)
            if "do" in mine:
                asked = mine
            at += 1
    except (BugError, Astray) as e:
        says = f"rebalsim contradicts itself: {e}" if isinstance(e, BugError) else str(e)
        kafka = theirs[at] if at < len(theirs) else None
        return _difference(at, replay.now, asked, kafka, says)
    if at < len(theirs):
        return _difference(at, theirs[at].get("t"), asked, theirs[at], None)
    return ties_apart(conversation["timer_ties"], replay.ties, len(theirs))


def _difference(at: int, t: Any, asked: Line | None, kafka: Any, ours: Any) -> Line:
    return {"step": at + 1, "t": t, "request": asked, "kafka": kafka, "rebalsim": ours}


# ------------------------------------------------------------------------------------------ reading

Shape = Mapping[str, tuple[Any, str]]  # key → the types that its value may have, and their words

TEXT = (str, "a text")
MAYBE_TEXT = ((str, type(None)), "a text or null")
NUMBER = (int, "a whole number")
NAMES = ((list, type(None)), "a list of texts or null")
LIST = (list, "a list")
OBJECT = (dict, "an object")


def check_shape(thing: Any, wanted: Shape, place: str, where: str) -> None:
    """InputError where `thing` is no object with these keys."""
    if not isinstance(thing, dict):
        needs = f"it needs {', '.join(wanted)}" if wanted else "every step is one"
        raise InputError(f"{place}: {where} is no JSON object — {needs}")
    for key, (kind, words) in wanted.items():
        if key not in thing:
            raise InputError(f"{place}: {where} has no {key} — it needs {', '.join(wanted)}")
        if not isinstance(thing[key], kind) or isinstance(thing[key], bool):
            said = json.dumps(thing[key])[:60]
            raise InputError(f"{place}: {where} has {key} {said} — it must be {words}")


def parsed(
    text: str,
    place: str,
    also: Shape,
    check_topics: Callable[[Line, str], None],
    check_request: Callable[[Line, str, str], None],
) -> Line:
    """One conversation, checked as far as its replay relies on it. `also`: what it has beside the
    keys of every such conversation.
    """
    conversation = parse_json(text, place)
    check_shape(conversation, {**_CONVERSATION, **also}, place, "the conversation")
    check_topics(conversation["topics"], place)
    for number, step in enumerate(conversation["steps"], 1):
        where = f"step {number}"
        check_shape(step, {}, place, where)
        if "do" not in step:  # an answer or a state: compared as it stands
            continue
        if step["do"] == "metadata":
            check_shape(step, {"t": NUMBER, "topics": OBJECT}, place, where)
            check_topics(step["topics"], place)
        else:
            check_request(step, place, where)
    return dict(conversation)


_CONVERSATION: Shape = {
    "config": OBJECT,
    "topics": OBJECT,
    "steps": LIST,
    "end": NUMBER,
    "timer_ties": LIST,
}


def setting_in(config: Line, key: str, place: str) -> int:
    """A whole number of the recording's broker configuration."""
    value = config.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(
            f"{place}: config has {json.dumps(value)[:60]} for {key} — a recording holds the "
            "broker's setting, a whole number"
        )
    return value
