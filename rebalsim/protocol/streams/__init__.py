"""The parts of a streams group's coordinator (KIP-1071): its topology, its members, and how one of
them comes to its target. The steps are in `protocol.streams_group`.
"""
