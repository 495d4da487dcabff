"""Networks and the one loop that trains them (torch)."""

from lifelong.nets.recipe import Recipe

__all__ = ["Recipe"]
