"""What exists already, as rebalsim understands it: deployment files and settings become scenarios,
logs become traces. Nothing is simulated here, and nothing judged.
"""
