"""A cluster with certificates, made as docs/scale.md says, and one without."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import dask
import pytest

from compat.errors import ClusterError
from compat.executors.dask import cluster
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.session import DaskSession
from tests.execution.dask.clusters import ROOT, Machines
from tests.forking import fork
from tests.waiting import PATIENCE, wait_until

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a user who followed docs/scale.md."""
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    section = page.partition("\n### Certificates\n")[2].partition("\n### ")[0]
    commands = re.findall(r"^\$ (openssl .+)$", section, re.MULTILINE)
    assert len(commands) == 3
    folder, settings = tmp_path / "tls", tmp_path / ".config" / "dask" / "tls.yaml"
    folder.mkdir()
    for command in commands:
        subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True)
    [text] = re.findall(r"```yaml\n(.+?)```", section, re.DOTALL)
    settings.parent.mkdir(parents=True)
    settings.write_text(text.replace("/home/me/tls", str(folder)))
    return tmp_path


@contextmanager
def _running(home: Path, *arguments: str) -> Iterator[None]:
    own = {name: text for name, text in os.environ.items() if not name.startswith("DASK_")}
    env = {**own, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = (*arguments, "--no-dashboard", "--host", "127.0.0.1")
    with Path(os.devnull).open("wb") as nothing:
        file = nothing.fileno()
        process = fork("dask", command, cwd=home, env=env, output=file, errors=file)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


@needs_openssl
def test_only_clients_with_a_certificate_connect(home: Path) -> None:
    path = home / "scheduler.json"
    options = ("--protocol", "tls", "--port", "0", "--scheduler-file", str(path))
    with ExitStack() as processes:
        processes.enter_context(_running(home, "scheduler", *options))
        # The scheduler creates the file before it writes the address.
        wait_until(lambda: path.is_file() and path.read_text().endswith("}"))
        scheduler = json.loads(path.read_text())["address"]
        assert scheduler.startswith("tls://")
        worker = ("--no-nanny", "--local-directory", str(home / "worker"))
        processes.enter_context(_running(home, "worker", scheduler, *worker))
        import distributed  # noqa: F401 - now its defaults are in the configuration

        own = dask.config.collect([str(home / ".config" / "dask")], {})
        users = dask.config.merge(dask.config.config, own)
        settings = DaskSettings(where="here", address=scheduler)
        with dask.config.set(users), DaskSession(settings, print) as session:
            assert session.client.submit(sum, [40, 2]).result(timeout=PATIENCE) == 42
            [address] = session.workers
        assert re.fullmatch(r"tls://127\.0\.0\.1:\d+", address)
        with pytest.raises(ClusterError, match="has no certificate"):
            cluster.client_of(scheduler, 1.0)
        with pytest.raises(OSError, match=r"imed out|closed"):
            cluster.client_of(scheduler.replace("tls://", "tcp://"), 1.0)


@pytest.mark.parametrize(
    ("address", "is_exposed"),
    [
        ("tcp://scheduler:8786", True),
        ("tcp://10.0.0.7:8786", True),
        ("tcp://[fe80::1]:8786", True),
        ("ws://scheduler:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://scheduler:8786", False),
        ("wss://scheduler:8786", False),
        ("inproc://10.0.0.7/1/1", False),
    ],
)
def test_scheduler_reachable_from_the_network_without_tls_is_exposed(
    address: str, is_exposed: bool
) -> None:
    assert cluster.is_exposed(address) is is_exposed


def test_one_line_warns_of_an_exposed_cluster_without_tls(tmp_path: Path) -> None:
    with Machines(tmp_path) as machines:
        machines.start_scheduler()
        machines.start_worker("one", nanny=False)
        for address, warnings in (
            (machines.address, 0),
            (machines.address.replace("127.0.0.1", "0.0.0.0"), 1),
        ):
            messages: list[str] = []
            settings = DaskSettings(where="here", address=address)
            with DaskSession(settings, messages.append) as session:
                assert session.client.submit(sum, [40, 2]).result() == 42
            assert sum("whoever reaches it on the network" in line for line in messages) == warnings
