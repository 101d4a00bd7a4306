"""What a trace means: ownership, pauses, phases, causes, rebalances, metrics. Pure; works on any
trace, simulated, recorded or from logs.
"""

from rebalsim.analysis.analysis import Analysis, analyse

__all__ = ["Analysis", "analyse"]
