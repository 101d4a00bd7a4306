"""What a script may do to a Kafka Streams application: an action's own file says whether it is played
for one.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.deed import Deed
from rebalsim.domain.scenario import Group
from rebalsim.domain.script import Action
from rebalsim.domain.script_groups import groups_of
from rebalsim.scenario.script_action import ScriptAction, actions_by_deed
from rebalsim.scenario.streams import Asked


def check_script(
    asked: Asked,
    groups: Sequence[Group],
    actions: Sequence[Action],
) -> None:
    """A Streams application has a story of its own, and some deeds are not played in it."""
    apps = [group for group in groups if group.streams is not None]
    if not apps:
        return
    _check_chains(asked, groups, actions)
    blocks = asked.story.get("script", ())
    for action in actions:
        concerns = groups_of(action, groups)
        is_of_others = bool(concerns) and not concerns & {app.name for app in apps}
        told = actions_by_deed().get(type(action.deed))
        if (told is None or not told.is_of_streams) and not is_of_others:
            mine = [block.node for block in blocks if block.node.line == action.line]
            asked.out.add([*mine, asked.story.node][0], _why_not(action.deed, told))


def _why_not(deed: Deed, told: ScriptAction | None) -> str:
    """Kafka Streams has no such thing, or it is not played."""
    if told is not None and told.not_of_streams:
        return told.not_of_streams
    named = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in type(deed).__name__
    ).strip()
    return (
        f"{named.capitalize()} is not played for a Streams application — join, scale, leave, "
        "crash, freeze, hang, cut, rolling_bounce, deploy, and what is done to topics and brokers "
        "are"
    )


def _check_chains(asked: Asked, groups: Sequence[Group], actions: Sequence[Action]) -> None:
    """The application and the other groups are played each for itself, so nothing waits for the
    other's.
    """
    apps = {group.name for group in groups if group.streams is not None}
    if len({group.name if group.name in apps else "" for group in groups}) == 1:
        return
    by_id = {action.id: action for action in actions if action.id}
    for action in actions:
        first = by_id.get(action.after or "")
        sides = [
            {name if name in apps else "" for name in groups_of(each, groups)}
            for each in (action, first)
            if each is not None
        ]
        if any(len(side) > 1 for side in sides) or len(set(map(frozenset, sides))) > 1:
            asked.out.add(
                asked.story.node,
                "An action concerns the Streams application and another group, or waits for one of "
                "the other's — give each of them actions of its own, with moments of their own",
            )
