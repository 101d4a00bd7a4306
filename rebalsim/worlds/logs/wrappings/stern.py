"""stern: `POD CONTAINER (TIME )?TEXT`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.wrappings import Wrapping, of_container

_NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_LINE = re.compile(rf"(?:\S{{1,253}} )?((?=\S*-)(?=\S*[a-z]){_NAME}) ((?=\S*[a-z]){_NAME})(?: |$)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ")

WRAPPING = Wrapping("stern", of_container(_LINE, _TIME), order=70)
