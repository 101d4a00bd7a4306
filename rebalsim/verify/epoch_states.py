"""The lines in which a conversation with a coordinator of epochs (consumer groups, streams groups)
tells the group's state: what changed since the last one, and each new target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rebalsim.verify.same_lines import Line


class ToldStates:
    """What was told last. `target_of(member)` is a member's target in the recording's form."""

    def __init__(self, group: Any, target_of: Callable[[str], Any]) -> None:
        self._group, self._target_of = group, target_of
        self._known: dict[str, tuple[int, str]] = {}
        self._head: Line | None = None
        self._told_target = -1

    def news(self, t: int) -> Iterator[Line]:
        """The line of this moment, if it differs from the last one told."""
        group = self._group
        if not group.exists:
            return
        now = {m.member_id: (m.epoch, m.state.value) for m in group.members.values()}
        head = {
            "group_epoch": group.epoch,
            "assignment_epoch": group.assignment_epoch,
            "state": group.state.value,
        }
        if now == self._known and head == self._head:
            return
        changed: list[list[Any]] = [
            [m, *now[m]] for m in sorted(now) if self._known.get(m) != now[m]
        ]
        changed += [[m, None, None] for m in sorted(self._known) if m not in now]
        line: Line = {"t": t, **head, "changed": changed}
        if group.assignment_epoch != self._told_target:
            self._told_target = group.assignment_epoch
            line["target"] = {m: self._target_of(m) for m in sorted(now)}
        self._known, self._head = now, head
        yield line
