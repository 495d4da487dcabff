"""Streams that every test here may ask for."""

import sys
from pathlib import Path

import pytest
from tiny_references import make_stream

from lifelong import TaskStream


@pytest.fixture(scope="session")
def flat() -> TaskStream:
    """Rows of eight numbers."""
    return make_stream((8,))


@pytest.fixture(scope="session")
def images() -> TaskStream:
    """Images of 2×8×8."""
    return make_stream((2, 8, 8))


sys.path.append(str(Path(__file__).parents[2]))  # for benchmarks/, which no wheel has
