"""The coordinator of a classic group, one rule a file; `rebalsim.protocol.classic_group` is its
door.
"""
