"""Which refreshes of metadata may be left out: all of them, where the brokers' topics stay as they
are, for an answer that brings nothing new changes nothing but when the client asks next.
"""

from __future__ import annotations

from rebalsim.domain.scenario import Scenario, everybody_in
from rebalsim.domain.script import AddPartitions, CreateTopic, DeleteTopic, Subscribe

NEW_TO_CLIENTS = (AddPartitions, CreateTopic, DeleteTopic, Subscribe)


def nothing_new_comes(story: Scenario) -> bool:
    """Will no client ever see something new? One with a pattern asks before it joins, unless it
    has just been told; to one with a rack the replicas' racks are news; a sink reads what its
    connector is told to.
    """
    return not (
        story.connect
        or any(isinstance(action.deed, NEW_TO_CLIENTS) for action in story.script)
        or any(one.pattern is not None or one.config.client_rack for one in everybody_in(story))
    )
