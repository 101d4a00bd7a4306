"""`kubectl logs --prefix [--timestamps]`: `[pod/NAME/CONTAINER] (TIME )?TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.wrappings import Wrapping, of_container

_LINE = re.compile(r"\[pod/([^/\]\s]{1,253})/([^/\]\s]{1,63})\] ?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ?")

WRAPPING = Wrapping("kubectl", of_container(_LINE, _TIME), order=20)
