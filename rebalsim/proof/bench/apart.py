"""Work in a process of its own, with its processor time and its memory at the peak; given up if
it goes on for too long.
"""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import importlib, json, resource, sys, time
module, name = sys.argv[1].split(":")
work = getattr(importlib.import_module(module), name)
began = time.process_time()
told = work(*json.loads(sys.argv[2]))
print(json.dumps([time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, told]))
"""


def apart(
    what: str, *arguments: object, patience_s: float
) -> tuple[float, float, list[float]] | None:
    """Seconds, megabytes, and what `module:function` returned; None if that was not done when
    the patience, by the wall's clock, was over.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, what, json.dumps(arguments)],
            capture_output=True,
            text=True,
            check=True,
            timeout=patience_s,
        )
    except subprocess.TimeoutExpired:
        return None
    seconds, megabytes, told = json.loads(done.stdout)
    return seconds, megabytes, told
