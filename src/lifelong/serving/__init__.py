"""Answers over HTTP, from a saved learner."""
