"""What the tests of this room say shortly: files in, one consumer or one sentence out."""

from __future__ import annotations

import textwrap
from typing import Any

from rebalsim.worlds.to_json import told_of
from rebalsim.worlds.understand import understand
from rebalsim.worlds.understood import Consumer, Understood


def files(**texts: str) -> list[tuple[str, str]]:
    """`deploy_yaml="…"` is the file deploy.yaml."""
    return [
        (".".join(name.rsplit("_", 1)), textwrap.dedent(text).lstrip("\n"))
        for name, text in texts.items()
    ]


def read(**texts: str) -> Understood:
    return understand(files(**texts))


def one(**texts: str) -> Consumer:
    made = read(**texts)
    assert len(made.consumers) == 1, [c.workload or c.name for c in made.consumers]
    return made.consumers[0]


def told(**texts: str) -> dict[str, Any]:
    return told_of(read(**texts))


def deployment(pod: str = "", spec: str = "", env: str = "", kind: str = "Deployment") -> str:
    """A workload that consumes, with lines added to its spec, its pod and its environment."""
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: orders}}\nspec:\n"
        + textwrap.indent(textwrap.dedent(spec), "  ")
        + "\n  template:\n    spec:\n"
        + textwrap.indent(textwrap.dedent(pod), "      ")
        + "\n      containers:\n      - name: app\n        env:\n"
        "        - {name: KAFKA_GROUP_ID, value: orders-group}\n"
        + textwrap.indent(textwrap.dedent(env), "        ")
        + "\n"
    )


def compose(*services: str) -> str:
    """A compose file with these services."""
    return "services:\n" + "".join(textwrap.indent(text, "  ") for text in services)


def service(name: str, image: str, **environment: object) -> str:
    variables = ", ".join(f"{key}: {value}" for key, value in environment.items())
    return f"{name}:\n  image: {image}\n  environment: {{{variables}}}\n"
