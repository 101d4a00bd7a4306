"""What a script does to connectors and tasks, as written → as meant. Which connectors there are
follows from the script so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rebalsim.domain import script as deeds
from rebalsim.domain.connect import ConnectCluster, Connector
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest


@dataclass(slots=True)
class Connectors:
    """The connectors of a story's clusters as the script goes on."""

    out: Problems
    group: str = ""
    there: dict[str, Connector] = field(default_factory=dict)
    later: dict[str, Connector] = field(default_factory=dict)

    @classmethod
    def of(cls, clusters: tuple[ConnectCluster, ...], out: Problems) -> Connectors:
        made = cls(out)
        for cluster in clusters:
            made.group = cluster.group
            made.there.update({c.name: c for c in cluster.connectors})
            made.later.update({c.name: c for c in cluster.later})
        return made

    def deed(self, kind: str, written: Written) -> Any:
        """The action, or None where it names what is not there."""
        if kind == "fail_task":
            return self._fail(written)
        if kind == "create_connector":
            return self._create(written)
        connector = self._named(written)
        if connector is None:
            return None
        if kind == "delete_connector":
            self.later[connector.name] = self.there.pop(connector.name)
            return deeds.DeleteConnector(self.group, connector.name)
        if kind == "reconfigure_connector":
            return self._reconfigure(connector, written)
        if kind == "restart_connector":
            return deeds.RestartConnector(self.group, connector.name)
        target = {"pause": "paused", "resume": "started", "stop": "stopped"}
        return deeds.TargetConnector(self.group, connector.name, target[kind.partition("_")[0]])

    def _named(self, written: Written) -> Connector | None:
        name = written.get("connector")
        found = self.there.get(name)
        if found is None:
            hint = (
                "create it before with create_connector"
                if name in self.later
                else or_nearest(name, self.there, "write it under connect: connectors:")
            )
            self.out.add(
                written.at["connector"], f"There is no connector '{shorten(name)}' here — {hint}"
            )
        return found

    def _create(self, written: Written) -> Any:
        name = written.get("connector")
        if name in self.there:
            self.out.add(
                written.at["connector"],
                f"{shorten(name)} is there at this point — add exists: later to it under "
                "connect: connectors:",
            )
            return None
        if name not in self.later:
            self.out.add(
                written.at["connector"],
                f"There is no connector '{shorten(name)}' — "
                f"{or_nearest(name, self.later, 'write it under connect: connectors:, with exists: later')}",
            )
            return None
        made = self.there[name] = self.later.pop(name)
        return deeds.CreateConnector(self.group, made)

    def _reconfigure(self, connector: Connector, written: Written) -> Any:
        fields = written.section.fields
        values = {
            fields[key].target: value
            for key, value in written.values.items()
            if key != "connector" and fields[key].target
        }
        stays = written.get("tasks") == "stay"
        if stays and "tasks_max" in values and values["tasks_max"] != connector.tasks_max:
            self.out.add(
                written.at["tasks"],
                "With another tasks.max the tasks cannot stay — leave tasks out",
            )
        made = replace(connector, **values, revision=connector.revision + (not stays))
        self.there[connector.name] = made
        return deeds.ReconfigureConnector(self.group, made)

    def _fail(self, written: Written) -> Any:
        name, _, number = written.get("task").rpartition("-")
        connector = self.there.get(name)
        if connector is None or int(number) >= connector.tasks_max:
            known = [f"{c.name}-0" for c in self.there.values()]
            most = f"it has {connector.tasks_max}, counted from 0" if connector is not None else ""
            self.out.add(
                written.at["task"],
                f"There is no task '{shorten(written.get('task'))}' — "
                f"{most or or_nearest(written.get('task'), known, 'name one of a connector')}",
            )
            return None
        return deeds.FailTask(self.group, name, int(number))
