"""Which lines can matter at all, and to which kind of dialect: what makes reading fast.

Most lines of a log are of other things, or of things at DEBUG. A line is let through by a few words,
one of which is in every line of every dialect; then by where its message begins: most messages with
the right prefix are none of the templates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rebalsim.worlds.logs.dialects import Dialect, all_dialects, dialect
from rebalsim.worlds.logs.dialects.broker import HEADS as BROKER_HEADS
from rebalsim.worlds.logs.dialects.java import HEADS as JAVA_HEADS
from rebalsim.worlds.logs.dialects.java_loose import SETTINGS
from rebalsim.worlds.logs.dialects.librdkafka import FACILITIES
from rebalsim.worlds.logs.dialects.templates import HEAD

# messages that everybody's logs are full of, and that prove nothing here
QUIET = frozenset(
    text[:HEAD]
    for text in (
        "Notifying",
        "Found no",
        "Updating assignment",
        "Cluster ID",
        "Reconciling",
        "Elected as",
        "Scheduling",
        "Finished loading",
        "Finished unloading",
        "Ignored",
        "Initialized",
        "Starting",
        "Resetting the last",
        "Seeking",
        "Request",
        "Replaying",
        "Completed",
        "Connection",
        "Asynchronous",
        *(f"Node {digit}" for digit in "-0123456789"),
        "Error ",
        "Client requested disconnect",
        "Committ",
        "Added read_uncommitted",  # from here on a Java consumer's at DEBUG
        "Fetch read_uncommitted",
        "Sending",
        "Removing pending",
        "Received",
        "Executing",
        "Enabling",
        "Fetching",
        "Handling",
        "Performing",
        "Initializing",
        "Heartbeat thread",
        "",
    )
)
_SETTINGS = frozenset(SETTINGS)
SAMPLE = 16  # lines of a piece by which it is seen whether it is worth while to leave out DEBUG
_NO_MESSAGE = "\n"  # with which no line goes on
_JAVA = {**dict.fromkeys(QUIET, _NO_MESSAGE), **JAVA_HEADS}


_AFTER_TAB_AND_PERCENT = "'"  # in the order of characters: no line of a log begins with one between
_TELLING = ("\t", "%")
# the first characters of settings, and of librdkafka's facilities behind the bar before them
_HEAD_END, _FACILITY_END = 6, 21
_SETTING_HEADS = frozenset(key[: _HEAD_END - 1] for key in SETTINGS)
_FACILITY_HEADS = frozenset(f"|{name}"[: _FACILITY_END - 17] for name in FACILITIES)
# what stands in a line that matters and does not speak of groups
_MARKS = (
    "offset for partition ",
    "ConsumerConfig v",
    "App info kafka.c",
    "Kafka version: ",
    ": partitions ",
)
_SETTING_WITHIN = tuple(
    (tab, re.compile(rf"{re.escape(tab)}(?:{'|'.join(map(re.escape, SETTINGS))}) = "))
    for tab in ("\t", "\\t")  # as it is, and escaped by a collector's JSON
)
_OF_PYTHON = ("eartbeat", "poll timeout", "subscribed topics", "has changed")
# marks that lack the word of groups, and are looked for only in files in which their dialect speaks
SELDOM = {
    "kafka-python": _OF_PYTHON,
    "aiokafka": _OF_PYTHON,
    "sarama": ("ubscription to ", "client/coordinator", "new client", "Closing Client", " map["),
    "Streams": ("stream-", "Finished restoring changelog "),
    "Spring": ("Consumer stopped", "topping container"),
    "franz-go": ("balanced; plan: ",),
}
_TELL_TALES = {
    "sarama": ("consumergroup/", "consumer/broker/", "client/coordinator "),
    "Streams": ("StreamThread", "stream-client ["),
}


JAVA, BROKER = dialect("Java"), dialect("group coordinator")
LIBRDKAFKA, SETTING = dialect("librdkafka"), dialect("Java without prefix")
Picked = tuple[int, Dialect, str, int]
_AT_ONCE = ("[Consumer ", "[GroupCoordinator ", "[GroupMetadataManager ", "[thrd:", "")


@cache
def other_marks() -> tuple[tuple[str, Dialect], ...]:
    """The marks of the dialects that no prefix tells at once."""
    return tuple((m, d) for d in all_dialects() for m in d.marks if m not in _AT_ONCE)


class Sieve:
    """Lets the lines of one file through; `speaking`: the dialects that have been heard in it."""

    def __init__(self) -> None:
        self.speaking: set[str] = set()
        self.more: tuple[str, ...] = ()

    def look_at(self, lines: Sequence[str]) -> None:
        """What a sample tells of who speaks in this file."""
        for name, words in _TELL_TALES.items():
            if any(word in line for word in words for line in lines):
                self.heard(name)

    def heard(self, name: str) -> bool:
        """A dialect speaks here; whether that makes more lines matter."""
        if name in self.speaking:
            return False
        self.speaking.add(name)
        self.more += SELDOM.get(name, ())
        return name in SELDOM

    def sift(self, lines: Sequence[str]) -> list[Picked]:
        """(place, who is likely to speak, line, where its message begins) of those that can matter.

        Each line of every log comes by here: the usual ones are told without a call, by the first
        words of their messages, and those that do not speak of groups all at once.
        """
        picked: list[Picked] = []
        others: list[int] = []
        take, leave, heads = picked.append, others.append, _JAVA
        for place, line in enumerate(lines):
            if line < _AFTER_TAB_AND_PERCENT and (first := line[:1]) in _TELLING:
                if first == "\t":
                    if line[1:_HEAD_END] in _SETTING_HEADS and _key_in(line) in _SETTINGS:
                        take((place, SETTING, line, 0))
                elif line[17:_FACILITY_END] in _FACILITY_HEADS and _facility_in(line) in FACILITIES:
                    take((place, LIBRDKAFKA, line, 0))
            elif "roup" not in line:
                if "[thrd:" not in line:
                    leave(place)
                elif (speaker := _of_librdkafka(line)) is not None:
                    take((place, speaker, line, 0))
            elif (begin := line.find("[Consumer ")) < 0:
                if (speaker := _of_groups(line)) is not None:
                    take((place, speaker, line, 0))
            else:
                begin = line.find("]", begin) + 2
                rest = heads.get(line[begin : begin + HEAD])
                if rest is not None:
                    if rest is not _NO_MESSAGE and line.startswith(rest, begin):
                        take((place, JAVA, line, begin))
                elif begin > 1 and _strange(line, begin):
                    take((place, JAVA, line, begin))
        if found := self._among_others(lines, others):
            picked += found
            picked.sort(key=_place_of)
        return picked

    def _among_others(self, lines: Sequence[str], places: Sequence[int]) -> list[Picked]:
        """Those that matter, of the lines at these places, which do not speak of groups: in most of them
        none of a few marks stands, which is seen at once of all of them.
        """
        places = _without_debug(lines, places)
        text = "\n".join([lines[place] for place in places])
        found: list[Picked] = []
        number, before = 0, 0
        for at in sorted(_marked(text, self.more)):
            number += text.count("\n", before, at)
            before = at
            if not _stands(lines, places, number, text, at):
                return self._one_by_one(lines, places)
            place = places[number]
            if found and found[-1][0] == place:
                continue
            if (speaker := _of_others(lines[place], self.more)) is not None:
                found.append((place, speaker, lines[place], 0))
        return found

    def _one_by_one(self, lines: Sequence[str], places: Sequence[int]) -> list[Picked]:
        """The same, of lines of which some are broken within."""
        told = ((place, _of_others(lines[place], self.more)) for place in places)
        return [(place, speaker, lines[place], 0) for place, speaker in told if speaker is not None]


def _stands(lines: Sequence[str], places: Sequence[int], number: int, text: str, at: int) -> bool:
    """What stands at `at` is of this line: not so behind a line that is broken within, as a collector's
    parts of a message can be.
    """
    if number >= len(places):
        return False
    return text.startswith(lines[places[number]], text.rfind("\n", 0, at) + 1)


def _without_debug(lines: Sequence[str], places: Sequence[int]) -> Sequence[int]:
    """Where a sample shows lines at DEBUG, the places of the others: in those nothing is looked for."""
    sample = places[:: max(1, len(places) // SAMPLE)]
    if not any("DEBUG" in lines[place] for place in sample):
        return places
    return [
        place
        for place in places
        if "DEBUG" not in (line := lines[place]) or not (" DEBUG " in line or '"DEBUG"' in line)
    ]


def _place_of(picked: Picked) -> int:
    return picked[0]


def _marked(text: str, more: Sequence[str]) -> set[int]:
    """Where a mark stands in a text of many lines; `more`: marks to look for besides."""
    found: set[int] = set()
    for mark in (*_MARKS, *more):
        at = text.find(mark)
        while at >= 0:
            found.add(at)
            end = text.find("\n", at)
            at = text.find(mark, end) if end >= 0 else -1
    for tab, setting in _SETTING_WITHIN:
        if tab[:1] in text:
            found.update(m.start() for m in setting.finditer(text))
    return found


def _key_in(line: str) -> str:
    """Of a line of settings."""
    return line[1 : line.find(" = ")]


def _facility_in(line: str) -> str:
    """Librdkafka's own word for what a line is about."""
    return line[18 : line.find("|", 18)]


def _of_groups(line: str) -> Dialect | None:
    """A line that speaks of groups, and is no Java consumer's."""
    begin = line.find("[Group")
    if begin >= 0:
        begin = line.find("]", begin)
        begin += 3 if line[begin + 1 : begin + 2] == ":" else 2
        if (rest := BROKER_HEADS.get(line[begin : begin + HEAD])) is not None:
            return BROKER if line.startswith(rest, begin) else None
        return BROKER if _strange(line, begin) else None
    if "[thrd:" in line:
        return _of_librdkafka(line)
    if "\t" in line and (speaker := _of_settings(line)) is not None:
        return speaker
    return _of_marks(line)


def _of_others(line: str, more: Sequence[str]) -> Dialect | None:
    """A line that does not speak of groups; `more`: marks to look for besides."""
    if "[thrd:" in line:
        return _of_librdkafka(line)
    if "DEBUG" in line and (" DEBUG " in line or '"DEBUG"' in line):
        return None
    if (
        "offset for partition " in line
        or "ConsumerConfig v" in line
        or "App info kafka.c" in line
        or "Kafka version: " in line
    ):
        return SETTING
    if ": partitions " in line:
        return _of_marks(line)
    if "\t" in line and (speaker := _of_settings(line)) is not None:
        return speaker
    for mark in more:
        if mark in line:
            return _of_marks(line)
    if "\\t" in line:  # escaped: a collector's JSON around a line of settings
        return _of_settings(line.replace("\\t", "\t"))
    return None


def _of_marks(line: str) -> Dialect | None:
    for mark, speaker in other_marks():
        if mark in line:
            return speaker
    return None


def _of_settings(line: str) -> Dialect | None:
    middle = line.find(" = ")
    key = line[line.rfind("\t", 0, middle) + 1 : middle]
    return SETTING if middle >= 0 and key in _SETTINGS else None


def _of_librdkafka(line: str) -> Dialect | None:
    """By its word for what a line is about: `|FACILITY|client| [thrd:` or `FACILITY [client] [thrd:`."""
    thread = line.find("[thrd:")
    if line[thread - 2 : thread - 1] == "|":
        end = line.rfind("|", 0, thread - 2)
        facility = line[line.rfind("|", 0, end) + 1 : end]
    else:
        end = line.rfind(" [", 0, thread - 1)
        facility = line[line.rfind(" ", 0, end) + 1 : end]
    return LIBRDKAFKA if facility in FACILITIES else None


def _strange(line: str, begin: int) -> bool:
    """A message that is no template: told as strange, unless it is known to say nothing."""
    return not (line[begin : begin + HEAD] in QUIET or "DEBUG" in line or "TRACE" in line)
