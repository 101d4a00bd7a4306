"""The four questions of a group that rebalances too often, answered in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis.values import Answer
from rebalsim.reports.names import safe
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration, say_instant


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer. `is_bad`: this is worth doing something about."""

    question: str
    answer: str  # yes | no | unknown | n/a, where the question does not arise
    text: str
    is_bad: bool


_QUESTIONS = {
    "crash-loop": "Does an instance crash and return faster than its session?",
    "outlasts-poll-interval": "Does one outlast max.poll.interval.ms?",
    "shared-instance-id": "Do two share an instance id?",
    "cooperative-in-use": "Is the cooperative assignor really in use?",
}


_WITHOUT_ANSWER = ("unknown", "n/a")


def tell_answer(answer: Answer, variant: str = "") -> Answered:
    """One question and its answer; a variant that is eager on purpose is not asked whether it is
    cooperative.
    """
    question, text = _QUESTIONS[answer.question], _TELLERS[answer.question](answer)
    if answer.is_yes is None:
        unsaid = _WITHOUT_ANSWER[bool(answer.figures.get("consumer_protocol"))]
        return Answered(question, unsaid, text, False)
    is_bad = answer.is_yes
    if answer.question == "cooperative-in-use":  # the one that should be answered with yes
        is_eager = variant.rpartition(" ")[2] == "eager"  # with a file's name before it, or none
        if is_eager and not answer.is_yes:
            return Answered(question, "n/a", "This variant is eager on purpose.", False)
        is_bad = not answer.is_yes and bool(answer.consumers)
    return Answered(question, "yes" if answer.is_yes else "no", text, is_bad)


def _crash_loop(a: Answer) -> str:
    if a.is_yes is None:
        return "This trace does not tell when processes died."
    if not a.is_yes:
        return ""
    away, session = (
        say_duration(a.figures["away_us"]),
        say_duration(a.figures["session_timeout_us"]),
    )
    times = plural(a.figures["times"], "time")
    return (
        f"{listed([safe(c) for c in a.consumers])}: {times}, back after {away} with a session of "
        f"{session}."
    )


def _outlasts(a: Answer) -> str:
    longest, limit = a.figures["longest_stuck_us"], a.figures["max_poll_interval_us"]
    if a.is_yes and not a.figures["times"]:
        return (
            f"{listed([safe(c) for c in a.consumers])}: its handler was stuck for "
            f"{say_duration(longest)}, against a limit of {say_duration(limit)}."
        )
    if a.is_yes:
        return (
            f"{listed([safe(c) for c in a.consumers])}: {plural(a.figures['times'], 'time')}, "
            f"against a limit of {say_duration(limit)}."
        )
    if longest >= 0 and limit >= 0:
        return (
            f"The longest that a handler was stuck was {say_duration(longest)}; the limit is "
            f"{say_duration(limit)}."
        )
    return ""


def _shared(a: Answer) -> str:
    if not a.is_yes:
        return ""
    fenced = f" {plural(a.figures['times'], 'member')} fenced." if a.figures["times"] else ""
    return f"{listed([safe(c) for c in a.consumers])}.{fenced}"


def _cooperative(a: Answer) -> str:
    since = a.figures.get("since_us", -1)
    if a.is_yes is None:
        if not a.figures.get("consumer_protocol"):
            return "This trace does not tell."
        protocol = "streams" if a.figures.get("streams_protocol") else "consumer"
        return (
            f"Under the {protocol} "
            f"protocol{f', since {say_instant(since)},' if since >= 0 else ''} the brokers "
            "assign, and only what moves is given up."
        )
    if a.is_yes:
        return (
            f"It has been the group's assignor since {say_instant(since)}, and another before."
            if since >= 0
            else ""
        )
    offered = a.figures["offered"]
    if not offered:
        return (
            f"No member offers it any more; it was the group's assignor until {say_instant(since)}."
            if since >= 0
            else "No member offers it."
        )
    return (
        f"{plural(offered, 'member')} offer{'s' if offered == 1 else ''} it, and another "
        "assignor of the list was chosen."
    )


_TELLERS = {
    "crash-loop": _crash_loop,
    "outlasts-poll-interval": _outlasts,
    "shared-instance-id": _shared,
    "cooperative-in-use": _cooperative,
}
