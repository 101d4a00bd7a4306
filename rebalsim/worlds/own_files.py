"""Files of rebalsim's own that lie among those of a deployment: they hold client settings too, and
are no client's.
"""

from __future__ import annotations

from rebalsim.worlds.text_tree import at, table
from rebalsim.worlds.values import Tree

_OF_STORY = ("replay", "script", "budgets", "expect", "horizon")
_OF_GROUP = ("members", "config", "handler", "life", "streams", "connect")


def told_of_own(tree: Tree) -> str:
    """What such a file is; empty for others."""
    keys = {str(key) for key in table(tree)}
    if "rebalsim" in keys and keys & {"schema_version", "baseline"}:
        return "a file that rebalsim wrote: it tells of runs, and deploys nothing"
    if {"axes", "scenario"} <= keys:
        return "a plan of rebalsim's: `rebalsim sweep` plays it"
    if _is_story(tree, keys):
        return "a scenario of rebalsim's: `rebalsim run` plays it"
    return ""


def _is_story(tree: Tree, keys: set[str]) -> bool:
    if {"workers", "connectors"} & {str(key) for key in table(at(tree, "connect"))}:
        return bool(keys & {*_OF_STORY})
    topics = table(at(tree, "topics")).values()
    if not any(at(topic, "partitions") or isinstance(topic, str) for topic in topics):
        return False
    groups = [at(tree, "group"), *table(at(tree, "groups")).values()]
    has_group = any(str(key) in _OF_GROUP for group in groups for key in table(group))
    return has_group or (bool(keys & {"group", "groups"}) and bool(keys & {*_OF_STORY}))
