"""Autoscalers: their formulas, which are pure, and the processes that look, decide and act."""
