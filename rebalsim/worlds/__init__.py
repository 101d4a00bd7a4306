"""What exists already, as rebalsim understands it: deployment files and settings become scenarios,
logs become traces. Nothing is simulated here, and nothing judged.

Of files: text comes in, facts with their source come out, and a scenario's text is written from
these. Nothing is executed, no file but the given ones is read; what is not known is asked for,
beside an assumption that says that it is one.
"""
