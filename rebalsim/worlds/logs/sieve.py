"""Which lines can matter at all, and to which kind of dialect: what makes reading fast.

Most lines of a log are of other things, or of things at DEBUG. A line is let through by a few words,
one of which is in every line of every dialect; then by where its message begins: most messages with
the right prefix are none of the templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from rebalsim.worlds.logs.dialects import Dialect, all_dialects
from rebalsim.worlds.logs.dialects.broker import HEADS as BROKER_HEADS
from rebalsim.worlds.logs.dialects.java import HEADS as JAVA_HEADS
from rebalsim.worlds.logs.dialects.java_loose import SETTINGS
from rebalsim.worlds.logs.dialects.librdkafka import FACILITIES
from rebalsim.worlds.logs.dialects.templates import HEAD

JAVA, BROKER, LIBRDKAFKA, SETTING, OTHER = 1, 2, 3, 4, 5
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
        "Node",
        "Error",
        "Committ",
        "",
    )
)
_SETTINGS = frozenset(SETTINGS)


# marks that lack the word of groups, and are looked for only in files in which their dialect speaks
SELDOM = {
    "kafka-python and aiokafka": ("eartbeat", "poll timeout", "subscribed topics", "has changed"),
    "sarama": ("ubscription to ", "client/coordinator", "new client", "Closing Client", " map["),
    "Streams": ("stream-thread [", "stream-client ["),
    "franz-go": ("balanced; plan: ",),
}
_TELL_TALES = {
    "sarama": ("consumergroup/", "consumer/broker/", "client/coordinator "),
    "Streams": ("StreamThread", "stream-client ["),
}


@cache
def other_marks() -> tuple[tuple[str, Dialect], ...]:
    """The marks of the dialects that no prefix tells at once."""
    prefixed = ("[Consumer ", "[GroupCoordinator ", "[GroupMetadataManager ", "[thrd:", "")
    return tuple((m, d) for d in all_dialects() for m in d.marks if m not in prefixed)


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
        """A dialect speaks here; whether it is news."""
        if name in self.speaking:
            return False
        self.speaking.add(name)
        self.more += SELDOM.get(name, ())
        return name in SELDOM

    def sift(self, lines: Sequence[str]) -> list[tuple[int, int, str]]:
        """(place, kind, line) of those that can matter."""
        more = self.more
        return [
            (place, kind, line) for place, line in enumerate(lines) if (kind := kind_of(line, more))
        ]


def kind_of(line: str, more: Sequence[str] = ()) -> int:
    """What kind of line it is; 0 where it cannot matter. `more`: marks to look for besides."""
    first = line[:1]
    if first == "%" and (kind := _of_librdkafka(line)) >= 0:
        return kind
    if first == "\t":
        return _of_settings(line)
    begin = line.find("[Consumer ")
    if begin >= 0:
        begin = line.find("] ", begin) + 2
        head = line[begin : begin + HEAD]
        rest = JAVA_HEADS.get(head)
        if rest is None:
            return 0 if head in QUIET or "DEBUG" in line or begin < 2 or "TRACE" in line else JAVA
        return JAVA if line.startswith(rest, begin) else 0
    if "roup" in line:
        return _of_groups(line)
    if "[thrd:" in line:
        return _of_facility(line)
    if "\t" in line:
        return _of_settings(line)
    if first == "{" and "\\t" in line:  # escaped: a collector's JSON around a line of settings
        return _of_settings(line.replace("\\t", "\t"))
    if (
        "offset for partition " in line
        or "ConsumerConfig v" in line
        or "App info kafka.c" in line
        or ": partitions " in line
        or "Kafka version: " in line
    ):
        return OTHER
    for mark in more:
        if mark in line:
            return _of_others(line)
    return 0


def _of_groups(line: str) -> int:
    """A line that speaks of groups, and is no Java consumer's."""
    begin = line.find("[Group")
    if begin >= 0:
        begin = line.find("]", begin)
        begin += 3 if line[begin + 1 : begin + 2] == ":" else 2
        if (rest := BROKER_HEADS.get(line[begin : begin + HEAD])) is not None:
            return BROKER if line.startswith(rest, begin) else 0
        return _strange(line, begin, BROKER)
    if "[thrd:" in line:
        return _of_facility(line)
    if "\t" in line and " = " in line:
        return _of_settings(line)
    return _of_others(line)


def _of_others(line: str) -> int:
    for mark, _ in other_marks():
        if mark in line:
            return OTHER
    return 0


def _of_settings(line: str) -> int:
    middle = line.find(" = ")
    key = line[line.rfind("\t", 0, middle) + 1 : middle]
    return SETTING if middle >= 0 and key in _SETTINGS else 0


def _of_librdkafka(line: str) -> int:
    """A line of librdkafka's own on stderr: its time has always so many characters. −1: it is none."""
    if line[17:18] != "|":
        return -1
    return LIBRDKAFKA if line[18 : line.find("|", 18)] in FACILITIES else 0


def _of_facility(line: str) -> int:
    return LIBRDKAFKA if _facility(line, line.find("[thrd:")) in FACILITIES else 0


def _strange(line: str, begin: int, kind: int) -> int:
    """A message that is no template: told as strange, unless it is known to say nothing."""
    return 0 if line[begin : begin + HEAD] in QUIET or "DEBUG" in line or "TRACE" in line else kind


def _facility(line: str, thread: int) -> str:
    """librdkafka's word for what a line is about: `|FACILITY|client| [thrd:` or `FACILITY [client] [thrd:`."""
    if line[thread - 2 : thread - 1] == "|":
        end = line.rfind("|", 0, thread - 2)
        return line[line.rfind("|", 0, end) + 1 : end]
    return line[: line.rfind(" [", 0, thread - 1)].rpartition(" ")[2]
