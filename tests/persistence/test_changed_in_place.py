"""Somebody changes the files of a store in place while a process has them mapped."""

import subprocess
import sys
from pathlib import Path

import pytest
from small import OURS, taught

SCRIPT = Path(__file__).with_name("changing.py")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("ridge forest", "I32"), ("ridge forest", "I64"), ("forest", "I32")],
)
def test_a_mapped_file_that_is_changed_does_not_end_the_process(name, dtype, tmp_path):
    make, shape = OURS[name]
    taught(make().set_params(store=tmp_path), 3, shape)
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path), name, dtype]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-1500:]}"
    assert done.stdout.endswith("alive\n")
