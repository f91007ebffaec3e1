"""On a GPU: kernels that go wrong on purpose, compiled by the installed releases, launched, and each called what it is.

``nox -s gpu`` runs these; without a GPU, its driver and PyTorch they are skipped.
"""

from __future__ import annotations

import pytest

from compat.errors import SelectionError
from compat.launch import archive, building, hosting
from compat.project import Listener, select
from tests.launch.expecting import EXPECTED, KERNELS, statuses

pytestmark = [pytest.mark.wheels, pytest.mark.gpu]

RELEASES = ("3.0.0", "3.3.1", "3.6.0", "3.9.0")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Variant → what it came to, over the releases."""
    home = tmp_path_factory.mktemp("gpu")
    (home / "matrix.toml").write_text(f'schema = 1\nkernels = ["{KERNELS}"]\n')
    selection = select(home / "matrix.toml", envs=RELEASES, targets=("*",))
    try:
        gpu = hosting.find_gpu(selection)
    except SelectionError as error:
        pytest.skip(str(error))
    chosen = select(home / "matrix.toml", envs=RELEASES, targets=(gpu.target.name,))
    with chosen.open_store() as store:
        built = building.build(chosen, chosen.context(store), chosen.build_envs, Listener())
    archive.write_archive(built, home / "built")
    hosting.launch(home / "built", gpu.python, ["--deadline", "5"])
    return statuses(home / "built" / "results.jsonl")


@pytest.mark.parametrize("variant", sorted(EXPECTED))
def test_each_is_called_what_it_is(found: dict[str, set[str]], variant: str) -> None:
    assert found[variant] <= EXPECTED[variant]
