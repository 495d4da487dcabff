"""The table of learners, and the reference algorithms and controls, one per file.

:data:`LEARNERS` has every learner by name, ours included; :data:`REFERENCES`, :data:`CONTROLS`
and :data:`BOUNDS` are parts of it. Most need torch, so the classes are imported from their own
modules: ``from lifelong.references.ewc import EWC``.
"""

from lifelong.references.entry import Entry
from lifelong.references.registry import BOUNDS, CONTROLS, LEARNERS, REFERENCES

__all__ = ["BOUNDS", "CONTROLS", "LEARNERS", "REFERENCES", "Entry"]
