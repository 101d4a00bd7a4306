"""The game played: the only room that knows simpy. It carries messages, sleeps, crashes, and
records what happened.
"""
