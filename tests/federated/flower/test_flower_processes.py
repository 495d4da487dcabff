"""Flower's real processes on loopback with TLS, and its simulation: minutes, so only in ``make
test-federated``.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"
sys.path += [str(HERE.parent), str(EXAMPLES)]
from small_sites import NAMES, make_site  # noqa: E402

from federated_loopback import federation, free_port, make_certificates  # noqa: E402
from lifelong import load  # noqa: E402


@pytest.fixture
def sites(tmp_path):
    folder = tmp_path / "sites"
    for number in range(3):
        make_site(folder, number)
    return folder


def wait_until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.5)


def encoders(folder):
    return set(load(folder).encoders_)


def test_sites_join_late_leave_and_send_garbage_and_the_others_go_on(sites, tmp_path):
    with federation(tmp_path / "flower") as flower:
        flower.start_server()
        flower.start_site("ann", sites / "ann")
        flower.start_site("bob", sites / "bob")
        flower.start_site("eve", sites / "ann", more='hostile="garbage"')
        output = []
        settings = "rounds=6 pause=4 sites=3 timeout=120"
        run = threading.Thread(
            target=lambda: output.append(flower.run(settings, app=HERE / "hostile"))
        )
        run.start()
        wait_until(
            lambda: (
                "bob/digits" in encoders(sites / "ann") and "ann/digits" in encoders(sites / "bob")
            )
        )
        flower.stop("bob")  # leaves
        flower.start_site("cem", sites / "cem")  # joins
        run.join()
    assert encoders(sites / "ann") == {"digits", "bob/digits", "cem/digits"}
    assert encoders(sites / "cem") == {"digits", "ann/digits", "bob/digits"}
    assert "site 'eve': Encoder 'eve/digits' holds no encoder that can be used" in output[0]
    assert "3 encoders" in output[0]


def test_a_flood_over_tls_is_cut_and_a_site_that_trusts_another_authority_stays_outside(
    sites, tmp_path
):
    """The server's certificate is checked: somebody in between gets no encoder."""
    (tmp_path / "other").mkdir()
    make_certificates(tmp_path / "other")
    with federation(tmp_path / "flower") as flower:
        flower.start_server()
        flower.start_site("ann", sites / "ann")
        flower.start_site("eve", sites / "bob", more='hostile="flood"')
        flower.start(
            "cem", "flower-supernode", "--superlink", f"127.0.0.1:{flower.port}",
            "--root-certificates", str(tmp_path / "other" / "ca.pem"),
            "--host", "127.0.0.1", "--port", str(free_port()), "--max-retries", "3",
            "--node-config", f'site="cem" directory="{sites / "cem"}"',
        )  # fmt: skip
        output = flower.run("rounds=2 pause=1 sites=2 timeout=120", app=HERE / "hostile")
    assert "It sent 5000 encoders at once" in output
    assert encoders(sites / "cem") == {"digits"}
    assert "round 2, 2 sites, 1 encoders" in output


@pytest.mark.parametrize("via", ["processes", "simulation"])
def test_the_example_says_the_same_by_every_way(via):
    command = [sys.executable, str(EXAMPLES / "federated_speakers.py"), "--smoke", "--via"]
    direct, real = (
        subprocess.run(
            [*command, way],
            check=True,
            capture_output=True,
            text=True,
            timeout=900,
            env=dict(os.environ),
        )
        for way in ("nothing", via)
    )
    accuracies = [
        [
            line.split()[:6]
            for line in done.stdout.splitlines()
            if line.split()[:1] in [[name] for name in NAMES]
        ]
        for done in (direct, real)
    ]
    assert len(accuracies[0]) == 3
    assert accuracies[0] == accuracies[1]
    if via == "processes":
        assert "marked rows: 0 of 225 pairs" in real.stdout
        asked = next(
            line for line in real.stdout.splitlines() if line.startswith("sites asked for ")
        )
        assert all(
            path.startswith("/v1/fleet/") for path in asked[16:].split(", ")
        )  # docs/federated.md relies on it


def test_an_address_where_nobody_listens_is_one_clear_line(tmp_path):
    with federation(tmp_path / "flower") as flower, pytest.raises(SystemExit) as error:
        flower.run("rounds=1", timeout=120)
    assert str(flower.port) in str(error.value) or "SuperLink" in str(error.value)
