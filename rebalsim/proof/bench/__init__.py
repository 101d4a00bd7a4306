"""How fast we are: each module measures one thing, beside the real thing where that is on the
machine.
"""
