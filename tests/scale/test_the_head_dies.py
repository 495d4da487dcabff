"""The last tests, as their clusters are of no use to anybody afterwards."""

import subprocess

from clusters import BIN, wait_until
from tiny import stored_lines


def test_a_lost_connection_is_one_line_and_the_same_command_goes_on(cluster, tmp_path):
    command = [
        BIN / "lifelong",
        "run",
        "xor-xnor",
        "--learners",
        "silly-f",
        "--repetitions",
        "20",
        "--out",
        tmp_path,
    ]
    there = [*command, "--engine", cluster.engine, "--engine-address", cluster.address]
    process = subprocess.Popen(there, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (tmp_path / "rows.jsonl").exists() and stored_lines(tmp_path), "a row")
    cluster.behead()
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1, told
    errors = [line for line in told.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, told
    assert f"Lost the connection to {cluster.engine}" in errors[0]
    assert "Traceback" not in told
    before = len(stored_lines(tmp_path))
    assert before > 0
    again = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert any(f"{before} rows are done" in line for line in again.stdout)
    again.kill()
    again.stdout.close()
    again.wait()
