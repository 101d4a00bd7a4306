"""Last night, from its logs: the worst disturbances, the scenario that plays them again, how well the
replay agrees with what was observed, and what would have prevented them, tried on it.
"""
