"""What happened: past-tense events in order, and how they are written, read, and taken from
recordings and logs.
"""
