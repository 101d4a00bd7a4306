"""One way to say each: durations and instants, lists, counts, and which word was probably meant.

Everybody above `domain` says them with this room. It knows words only: no sentence stands here.
"""
