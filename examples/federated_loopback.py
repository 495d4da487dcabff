"""A federation on one machine: Flower's real server and site processes on the loopback interface,
TLS on.

Used by federated_speakers.py. In a real federation each of these commands runs on a machine of its
own (docs/federated.md), and the certificates come from whoever makes them there.
"""

import contextlib
import datetime
import ipaddress
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

APP = Path(__file__).parent / "federated"
LOOPBACK = "127.0.0.1"


def make_certificates(folder: Path) -> None:
    """A throw-away authority (ca.pem), and a certificate for the loopback interface that it has
    signed.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)

    def certificate(
        subject: str,
        key: ec.EllipticCurvePrivateKey,
        issuer: str,
        signer: ec.EllipticCurvePrivateKey,
        *,
        is_ca: bool,
    ) -> x509.Certificate:
        names = [
            x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
            for name in (subject, issuer)
        ]
        places = [x509.IPAddress(ipaddress.ip_address(LOOPBACK)), x509.DNSName("localhost")]
        return (
            x509.CertificateBuilder(
                names[1], names[0], key.public_key(), x509.random_serial_number()
            )
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(is_ca, 0 if is_ca else None), critical=True)
            .add_extension(x509.SubjectAlternativeName(places), critical=False)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
                critical=False,
            )
            .sign(signer, hashes.SHA256())
        )

    authority = ec.generate_private_key(ec.SECP256R1())
    server = ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    ca = certificate("throw-away CA", authority, "throw-away CA", authority, is_ca=True)
    signed = certificate("loopback", server, "throw-away CA", authority, is_ca=False)
    (folder / "ca.pem").write_bytes(ca.public_bytes(pem))
    (folder / "server.pem").write_bytes(signed.public_bytes(pem))
    key = server.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.key").touch(mode=0o600)
    (folder / "server.key").write_bytes(key)


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


class Federation:
    """Flower's processes, and the folder for their certificates, settings and logs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        make_certificates(folder)
        (folder / "config.toml").write_text(
            f'[superlink.loopback]\naddress = "{LOOPBACK}:{self.port}"\nroot-certificates ='
            f' "{folder / "ca.pem"}"\n'
        )
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "FLWR_HOME": str(
                folder
            ),  # where flwr looks for config.toml; the user's own is left alone
            "FLWR_TELEMETRY_ENABLED": "0",  # Flower reports usage to its makers unless told not to
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "OMP_NUM_THREADS": "1",
        }

    def start(self, name: str, *command: str) -> None:
        """One process in the background; what it says goes to ``name``.log."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [_tool(command[0]), *command[1:]],
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )

    def start_server(self, *, simulation: bool = False) -> None:
        """flower-superlink, ready when this returns; in a simulation it runs the sites as well,
        with Ray.
        """
        tls = [
            f"--ssl-{name}={self.folder / file}"
            for name, file in (
                ("certfile", "server.pem"),
                ("keyfile", "server.key"),
                ("ca-certfile", "ca.pem"),
            )
        ]
        where = ["--host", LOOPBACK, "--port", str(self.port)]
        how = ["--disable-runtime-dependency-installation"]
        if simulation:
            how.append("--simulation")
        self.start("superlink", "flower-superlink", *tls, *where, *how)
        wait_for_port(self.port, self.processes["superlink"])

    def start_site(
        self, name: str, directory: Path, *, port: int | None = None, more: str = ""
    ) -> None:
        """flower-supernode of a site; ``port`` if not straight to the server, ``more`` for its
        configuration.
        """
        self.start(
            name, "flower-supernode", "--superlink", f"{LOOPBACK}:{port or self.port}",
            "--root-certificates", str(self.folder / "ca.pem"),
            "--host", LOOPBACK, "--port", str(free_port()),
            "--node-config", f'site="{name}" directory="{directory}" {more}',
        )  # fmt: skip

    def run(
        self, settings: str, *, simulated_sites: int = 0, app: Path = APP, timeout: float = 900
    ) -> str:
        """Call ``flwr run`` and wait: the exchange from beginning to end, and what its
        server said.
        """
        command = [_tool("flwr"), "run", str(app), "loopback", "--stream"]
        command += ["--run-config", settings]
        if simulated_sites:
            resources = f"num-supernodes={simulated_sites} client-resources-num-cpus=1"
            command += ["--federation-config", resources]
        done = subprocess.run(
            command,
            env=self.environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"flwr run failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def stop(self, name: str) -> None:
        """End a process and what it has started."""
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


@contextlib.contextmanager
def federation(folder: Path) -> Iterator[Federation]:
    """A federation whose processes end with the block."""
    federation = Federation(folder)
    try:
        yield federation
    finally:
        for name in reversed(list(federation.processes)):
            federation.stop(name)


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Until somebody listens there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
            return
        time.sleep(0.2)
    raise SystemExit(
        f"Nobody listens on port {port}; the process ended with {process.poll()}. See its log."
    )


def _tool(name: str) -> str:
    """The command of that name that belongs to this Python."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise SystemExit(f"{name} is not installed. Run: pip install 'lifelong[federated]'")
    return str(path)
