"""Executors, as the option and the table of ``matrix.toml`` name them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compat.config.matrix import load_matrix
from compat.errors import ConfigError, SelectionError
from compat.executors import executor_declared, executor_named
from compat.executors.dask.cluster import DaskSettings
from compat.project import read_matrix
from tests.together import for_each


def read(folder: Path, text: str) -> DaskSettings | None:
    path = folder / "matrix.toml"
    path.write_text(text)
    declared = load_matrix(path).executor
    settings = executor_declared(declared) if declared is not None else None
    assert settings is None or isinstance(settings, DaskSettings)
    return settings


@for_each(
    ("text", "facts"),
    [
        ("dask://scheduler:8786", {"address": "tcp://scheduler:8786"}),
        ("tls://10.0.0.1:8786", {"address": "tls://10.0.0.1:8786"}),
        ("tcp://[::1]:8786", {"address": "tcp://[::1]:8786"}),
        ("dask:local", {}),
        (
            "dask:local?workers=4&threads=2&in_flight=9",
            {"workers": 4, "threads": 2, "in_flight": 9},
        ),
    ],
)
def test_executor_option_is_read(text: str, facts: dict[str, object]) -> None:
    assert executor_named(text) == DaskSettings(where="--executor", **facts)  # type: ignore[arg-type]


def test_local_executor_has_no_settings() -> None:
    assert executor_named("local") is None


@for_each(
    ("text", "message"),
    [
        ("dask", "unknown executor 'dask'"),
        ("dask://scheduler", "unknown executor 'dask://scheduler'"),
        ("http://scheduler:8786", "unknown executor"),
        ("dask:local?workers", "expected name=number"),
        ("dask:local?workers=0", "workers='0' is not a number from 1 to 99999"),
        ("dask:local?workers=²", "is not a number"),
        (
            "dask:local?worker=4",
            "unknown parameter 'worker'; choose one of workers, threads, in_flight",
        ),
    ],
)
def test_invalid_executor_option_is_a_selection_error(text: str, message: str) -> None:
    with pytest.raises(SelectionError, match="--executor: ") as caught:
        executor_named(text)
    assert message in str(caught.value)
    assert "dask:local?workers=4" in (caught.value.hint or "")


def test_executor_table_is_read(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        """[executor]
class = "dask_jobqueue.SLURMCluster"
workers = 16
in_flight = 64
wait = 1800
arguments = { queue = "cpu", cores = 8 }
""",
    )
    assert settings is not None
    assert (settings.cluster, settings.arguments, settings.workers) == (
        "dask_jobqueue.SLURMCluster",
        {"queue": "cpu", "cores": 8},
        16,
    )
    assert (settings.in_flight, settings.wait, settings.address) == (64, 1800.0, None)
    assert settings.where.endswith("matrix.toml: executor")
    address = read(tmp_path, '[executor]\naddress = "dask://s:1"\n')
    assert address is not None
    assert address.address == "tcp://s:1"
    assert read(tmp_path, "") is None


@for_each(
    ("text", "where", "message"),
    [
        ("", "executor", "give either `address` or `class`"),
        ('class = "a.B"\naddress = "tcp://s:1"', "executor.class", "not both"),
        ('class = "SLURMCluster"', "executor.class", "is not the dotted name of a class"),
        ("class = 3", "executor.class", "expected a string"),
        ('address = "s:1"', "executor.address", "is not the address of a scheduler"),
        (
            'address = "tcp://s:1"\narguments = {}',
            "executor.arguments",
            "only `class` takes this key",
        ),
        ('address = "tcp://s:1"\nworkers = 3', "executor.workers", "only `class` takes this key"),
        ('address = "tcp://s:1"\nartifacts = "1 MiB"', "executor.artifacts", "unknown key"),
        ('class = "a.B"\nworkers = 0', "executor.workers", "must be greater than zero"),
        ('class = "a.B"\narguments = 3', "executor.arguments", "expected a table"),
        ('clas = "a.B"', "executor.clas", "unknown key"),
    ],
)
def test_error_in_the_executor_table_names_its_place(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"[executor]\n{text}\n")
    assert f"matrix.toml: {where}: " in str(caught.value)
    assert message in str(caught.value)
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_matrix(tmp_path / "matrix.toml")
