"""Tests in ``flower`` need Flower, whose versions of other packages are not ours: ``make
test-federated`` runs them.
"""

from importlib.util import find_spec

collect_ignore = [] if find_spec("flwr") else ["flower"]
