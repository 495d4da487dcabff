"""The sixteen reference algorithms and two controls, one per file, by name in :data:`REFERENCES` and :data:`CONTROLS`.

Most need torch, so the classes are imported from their own modules: ``from lifelong.references.ewc import EWC``.
"""

from lifelong.references.registry import CONTROLS, REFERENCES

__all__ = ["CONTROLS", "REFERENCES"]
