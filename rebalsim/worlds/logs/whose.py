"""Whose the facts of a process are that name no group: by the same rules by which voices find theirs.

A fact that names none asks one of a few questions (whose is this client, this block of settings, this
thread?), and all that ask the same get the same answer, which is that of the whole log. What another
part of the same log could tell stays with every group that the process names.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.worlds.logs.dialects import Dialect
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.streams import Stream
from rebalsim.worlds.logs.voices import MOST_GROUPS, OF_JAVA

Question = tuple[str, str]  # what is asked for, and its name
_EVERY, _BLOCK, _CLIENT, _THREAD = "every", "block", "client", "thread"
_GROUP, _NOBODY = "group", ("", "")
_OF_ALL = (FactKind.SPOKE, FactKind.SETTING, FactKind.SETTINGS)


class Whose:
    """What a stream's facts tell of groups, in order, and what was asked of it."""

    def __init__(self) -> None:
        self.clients: dict[str, str] = {}
        self.named: dict[str, None] = {}  # every client, with a group or without
        self.threads: dict[str, dict[str, None]] = {}
        self.every: dict[str, None] = {}
        self.blocks: dict[int, str] = {}  # of blocks of settings: the group that each names
        self.block = 0  # which was begun last
        self._of_place: dict[int, Question] = {}

    @staticmethod
    def facts_of(stream: Stream) -> Whose:
        """All that is told."""
        found = Whose()
        for speaker, f in stream.told:
            found.take(speaker, f)
        return found

    def copy(self) -> Whose:
        """The same, to go on with; what was asked is left behind."""
        found = Whose()
        found.clients, found.named, found.every = (
            dict(self.clients),
            dict(self.named),
            dict(self.every),
        )
        found.threads = {thread: dict(groups) for thread, groups in self.threads.items()}
        found.blocks, found.block = dict(self.blocks), self.block
        return found

    def take(self, speaker: Dialect, f: Fact) -> None:
        """One more fact."""
        if f.what == FactKind.SETTINGS:
            self.block += 1
        elif f.what == FactKind.SETTING and not f.group and f.why == "group.id":
            self.blocks[self.block] = f.other
        if f.group:
            self.every[f.group] = None
            if f.thread:
                self.threads.setdefault(f.thread, {})[f.group] = None
        if f.client:
            self.named[f.client] = None
            if f.group:
                self.clients.setdefault(f.client, f.group)
        if not f.group and not speaker.is_broker:
            self._of_place[f.place] = self._question(speaker, f)

    def _question(self, speaker: Dialect, f: Fact) -> Question:
        if f.what == FactKind.SETTINGS or f.what == FactKind.SETTING:
            return _BLOCK, str(self.block)
        if f.client:
            return _CLIENT, f.client
        if f.what == FactKind.VERSION and speaker.name in OF_JAVA:
            return _NOBODY  # which no consumer can take for its own
        if f.what not in _OF_ALL and _is_by_thread(speaker, f):
            return _THREAD, f.thread
        return _EVERY, ""

    def question_of(self, f: Fact) -> Question:
        """What a fact that was taken asks; of one that names its group that is the answer, too."""
        return (_GROUP, f.group) if f.group else self._of_place.get(f.place, _NOBODY)

    def forget_places(self) -> None:
        """No fact that was taken so far is asked for by its place any more."""
        self._of_place.clear()

    def groups_of(self, speaker: Dialect, f: Fact) -> Sequence[str]:
        """The groups that a fact is of."""
        return self.answer(self.question_of(f))

    def answer(self, question: Question) -> Sequence[str]:
        """The groups that all facts are of that ask this."""
        what, name = question
        if not what:
            return ()
        if what == _GROUP:
            return (name,)
        if what == _BLOCK and (mine := self.blocks.get(int(name), "")):
            return (mine,)
        if what == _CLIENT and (mine := self.clients.get(name, "")):
            return (mine,)
        every = list(self.every) if len(self.every) <= MOST_GROUPS else []
        if what == _THREAD and len(self.named) > 1:
            return list(self.threads.get(name, every)) if name else ()
        return every

    def asked_before(self, place: int) -> set[Question]:
        """What the facts before this place ask."""
        return {q for at, q in self._of_place.items() if at < place}


def _is_by_thread(speaker: Dialect, f: Fact) -> bool:
    """Of several consumers it is the one's that speaks in its thread, or nobody's."""
    return f.what == FactKind.POSITIONED or f.is_second_hand or speaker.name in OF_JAVA
