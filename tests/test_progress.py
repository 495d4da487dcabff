"""A bar on a terminal when work takes longer than a second; silence everywhere else."""

import os
import pty
import subprocess
import sys

SCRIPT = """
import time
from lifelong._progress import progress

with progress({steps}, "counting sheep") as bar, progress(3, "inner") as inner:
    for step in range({steps}):
        time.sleep(0.3)
        bar.advance("now")
        inner.advance()
"""


def on_a_terminal(script, **environment):
    """Run with stderr on a pseudo-terminal and return what was written there."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    process = subprocess.Popen([sys.executable, "-c", script], stderr=theirs, env=environment)
    os.close(theirs)
    written = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the other side has closed
            break
        if not chunk:
            break
        written += chunk
    assert process.wait(timeout=60) == 0
    os.close(ours)
    return written.decode(errors="replace")


def test_a_bar_appears_on_a_terminal_after_a_second_and_only_one_at_a_time():
    shown = on_a_terminal(SCRIPT.format(steps=7))
    assert "counting sheep" in shown
    assert "inner" not in shown


def test_quick_work_shows_nothing():
    assert on_a_terminal(SCRIPT.format(steps=2)).strip() == ""


def test_bars_can_be_switched_off():
    assert on_a_terminal(SCRIPT.format(steps=6), LIFELONG_PROGRESS="0").strip() == ""


def test_nothing_is_written_when_not_on_a_terminal():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(steps=6)], capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    assert done.stdout == b""
