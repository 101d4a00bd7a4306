"""What collectors and exporters keep as JSON around a line: fluent-bit, vector, Loki, Kibana, Google's and
Amazon's. Where the document is the application's own, it stays whole, and only whose it is is told.
"""

from __future__ import annotations

from rebalsim.worlds.logs import heads
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping

# where the name of the pod, container, stream or host stands, the most particular first
_WHOSE = (
    ("kubernetes", "pod_name"),
    ("kubernetes", "pod", "name"),
    ("k8s", "pod", "name"),
    ("resource", "labels", "pod_name"),
    ("resource", "k8s.pod.name"),
    ("labels", "pod"),
    ("stream", "pod"),
    ("pod_name",),
    ("pod",),
    ("container", "name"),
    ("container_name",),
    ("logStreamName",),
    ("logStream",),
    ("@logStream",),
    ("host", "name"),
    ("hostname",),
    ("host",),
)
_CONTAINERS = (("kubernetes", "container_name"), ("kubernetes", "container", "name"))


def take(line: str) -> Unwrapped | None:
    """What the application printed, or its document, and whose it is; None where the document adds
    nothing to it.
    """
    found = opened(line)
    if found is None or not (found.source or (found.stamp is not None and found.text != line)):
        return None
    return found


def opened(line: str) -> Unwrapped | None:
    """The same, whatever the document adds."""
    document = heads.document_in(line) if line[:1] == "{" else None
    if document is None or not (message := heads.message_in(document)):
        return None
    source = _first(document, _WHOSE)
    if source and (container := _first(document, _CONTAINERS)):
        source = f"{source}/{container}"
    if heads.thread_in(document) or heads.logger_in(document):  # the application's own
        return Unwrapped(line, None, source)
    return Unwrapped(message.rstrip("\r\n"), heads.stamp_in(document), source)


def _first(document: heads.Document, paths: tuple[tuple[str, ...], ...]) -> str:
    inner = heads.inner_of(document)
    for whole in (document, inner):
        for path in paths if whole is not None else ():
            found: object = whole
            for key in path:
                found = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, str) and found:
                return found[:300]
    return ""


WRAPPING = Wrapping("JSON around lines", take, order=80)
