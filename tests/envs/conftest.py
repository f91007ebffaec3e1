"""A small checkout with its own package index: real nox, tiny wheels, and no network."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from attrs import frozen

from compat.config.matrix import load_matrix
from compat.envs.cache import VARIABLE, EnvCache
from compat.envs.installers import choose_installer
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import read_env, read_unchecked_env
from compat.model import BuiltEnv
from tests import commands
from tests.waiting import PATIENCE, wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
NEEDED = ("noxfile.py", "pyproject.toml")

KERNEL = """
schema = 1
kernel = "k"
source = "k.py"
signature = { x = "*fp16" }
case = [{ name = "c" }]
variant = [{ name = "v", function = "k" }]
"""


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    tag: str = "py3-none-any",
    requires: tuple[str, ...] = (),
    classifier: str = "",
) -> Path:
    """Make a wheel with one module that knows its version."""
    info = f"{name}-{version}.dist-info"
    metadata = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        *(f"Requires-Dist: {other}" for other in requires),
    ]
    metadata += [f"Classifier: License :: {classifier}"] if classifier else []
    files = {
        f"{name}/__init__.py": f"__version__ = {version!r}\n",
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"
        ),
    }
    return write_wheel(
        folder / f"{name}-{version}-{tag}.whl",
        {name: text.encode() for name, text in files.items()},
        info,
    )


def write_wheel(path: Path, files: dict[str, bytes], info: str) -> Path:
    """Write the files and the RECORD that belongs to them. The same files make the same wheel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = ""
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name), content)
            digest = (
                base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            )
            record += f"{name},sha256={digest},{len(content)}\n"
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record + f"{info}/RECORD,,\n")
    return path


@frozen
class Checkout:
    """A copy of the files of this project that nox needs, with methods that run nox."""

    root: Path
    index: Path

    @property
    def cache(self) -> EnvCache:
        """The cache of its envs. It is not the user's cache, which is for envs of real use."""
        return EnvCache(self.root.parent / "envs")

    def matrix(self, *envs: str) -> None:
        """Declare these envs, given as inline tables."""
        lines = "".join(f"  {env},\n" for env in envs)
        text = f'schema = 1\nkernels = ["k.toml"]\nenv = [\n{lines}]\n[defaults]\nenvs = ["*"]\n'
        (self.root / "matrix.toml").write_text(text, encoding="utf-8")

    def publish(self, name: str, version: str, **facts: Any) -> Path:
        """Put a wheel on the index; ``facts`` are those of :func:`make_wheel`."""
        path = make_wheel(self.index / name, name, version, **facts)
        links = (
            f'<a href="{wheel.name.replace("+", "%2B")}">{wheel.name}</a>'
            for wheel in sorted(path.parent.glob("*.whl"))
        )
        (path.parent / "index.html").write_text("\n".join(links), encoding="utf-8")
        return path

    def environ(self, **more: str) -> dict[str, str]:
        """The variables that nox runs with: only this index, and no pip settings of the machine.

        Pip does not compile itself in every env.
        """
        base_env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PIP_", "UV_", "NOX"))
        }
        url = self.index.as_uri()
        indexes = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url}
        pip = {"VIRTUALENV_SYMLINK_APP_DATA": "1"}
        return {**base_env, **indexes, **pip, VARIABLE: str(self.cache.folder), **more}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "nox", "-f", str(self.root / "noxfile.py"), *arguments]

    def nox(self, *arguments: str, code: int = 0, **environ: str) -> str:
        """Run nox with the package that the checkout links to, and return all its output."""
        done = commands.run(
            *("-f", str(self.root / "noxfile.py")),
            *arguments,
            cwd=self.root,
            env=self.environ(**environ),
            timeout=PATIENCE,
            program="nox",
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def build(
        self,
        *names: str,
        backend: str | None = None,
        jobs: int = 1,
        real: bool = False,
        **environ: str,
    ) -> list[str]:
        """Build envs in this process, from this index or from the ``real`` one.

        Returns the messages of the build.
        """
        config, lines = load_matrix(self.root / "matrix.toml"), list[str]()
        installer = partial(choose_installer, backend)
        builder = Builder(
            cache=self.cache,
            index_cache=self.root / INDEX,
            say=lines.append,
            backend=backend,
            installer=installer,
        )
        with patch.dict(os.environ, {} if real else self.environ(**environ), clear=not real):
            build_envs(builder, [config.env(name) for name in names], jobs=jobs, echo=lines.append)
        return lines

    def read(self, name: str) -> BuiltEnv:
        """Read the record of an env."""
        env = load_matrix(self.root / "matrix.toml").env(name)
        state = read_env(env, self.cache)
        assert state.error or read_unchecked_env(env, self.cache) == state
        return state


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "checkout"
    root.mkdir()
    for name in NEEDED:
        shutil.copy2(REPOSITORY / name, root / name)
    (root / "compat").symlink_to(REPOSITORY / "compat")
    (root / "k.toml").write_text(KERNEL, encoding="utf-8")
    (root / "k.py").write_text("def k(x): ...\n", encoding="utf-8")
    new_checkout = Checkout(root=root, index=tmp_path / "simple")
    new_checkout.matrix('{ triton = "1.0" }')
    for release in ("1.0", "1.1"):
        new_checkout.publish("triton", release)
    return new_checkout


@frozen
class SlowUv:
    """A uv that records each installation, and waits before it until ``go_on`` is called."""

    program: Path
    folder: Path

    def asked(self) -> list[int]:
        """The processes that were asked to install something."""
        return [int(path.name) for path in self.folder.iterdir() if path.name.isdigit()]

    def wait_until_asked(self, times: int = 1) -> None:
        wait_until(lambda: len(self.asked()) >= times)

    def go_on(self) -> None:
        (self.folder / "go").touch()


@pytest.fixture
def slow_uv(tmp_path: Path) -> Iterator[SlowUv]:
    uv = SlowUv(tmp_path / "slow-uv", tmp_path / "asked")
    uv.folder.mkdir()
    lines = [
        f"#!{sys.executable} -IS",
        "import os, signal, sys, time",
        f"folder = {str(uv.folder)!r}",
        "if 'install' in sys.argv:",
        "    if os.environ.get('POLITE'): signal.signal(signal.SIGINT, lambda *_: os._exit(0))",
        "    open(f'{folder}/{os.getpid()}', 'w').close()",
        "    while not os.path.exists(f'{folder}/go'): time.sleep(0.02)",
        f"os.execv({str(UV)!r}, sys.argv)",
    ]
    uv.program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    uv.program.chmod(0o755)
    yield uv
    uv.go_on()
