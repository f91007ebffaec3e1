"""A cluster with certificates, as docs/scale.md makes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client
from distributed.security import Security

from compat.errors import ClusterError
from compat.executors.dask import cluster
from tests.waiting import wait_until

ROLES = ("scheduler", "worker", "client")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


def _openssl(folder: Path, words: str) -> None:
    subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    for words in (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca-key.pem -out ca.pem -subj /CN=our",
        "req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=compat",
        "x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -out cert.pem",
    ):
        _openssl(tmp_path, words)
    return tmp_path


@pytest.fixture
def scheduler(certificates: Path) -> Iterator[str]:
    """The address of a scheduler that takes only encrypted connections."""
    variables = {"REQUIRE_ENCRYPTION": "true", "TLS__CA_FILE": f"{certificates}/ca.pem"}
    for role in ROLES:
        variables[f"TLS__{role.upper()}__CERT"] = f"{certificates}/cert.pem"
        variables[f"TLS__{role.upper()}__KEY"] = f"{certificates}/key.pem"
    environ = {f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in variables.items()}
    path = certificates / "scheduler.json"
    command = [sys.executable, "-m", "dask", "scheduler", "--protocol", "tls", "--no-dashboard"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(path)],
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(path.is_file)
        yield json.loads(path.read_text())["address"]
    finally:
        process.kill()
        process.wait()


def test_only_who_has_a_certificate_gets_a_connection(scheduler: str, certificates: Path) -> None:
    assert scheduler.startswith("tls://")
    own = {
        "tls_client_cert": f"{certificates}/cert.pem",
        "tls_client_key": f"{certificates}/key.pem",
    }
    security = Security(tls_ca_file=f"{certificates}/ca.pem", require_encryption=True, **own)
    with Client(scheduler, security=security, set_as_default=False, timeout=20) as client:
        assert client.scheduler_info()["address"] == scheduler
    with pytest.raises(ClusterError, match="has no certificate"):
        cluster.client_of(scheduler, 1.0)
    with pytest.raises(OSError, match=r"imed out|closed"):
        cluster.client_of(scheduler.replace("tls://", "tcp://"), 1.0)
