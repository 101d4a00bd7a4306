"""The coordinator's side of the consumer protocol (KIP-848) in its parts; the steps are in
rebalsim.protocol.consumer_group.
"""
