"""Names of envs whose Triton is a few lines of source.

The tests cover envs without an answer, classes, and how long an answer is kept.
"""

from __future__ import annotations

import venv
from pathlib import Path

import pytest
from attrs import asdict
from click.testing import CliRunner, Result
from packaging.version import Version

from compat import toolchains
from compat.api import inspection
from compat.api.inspection import UnresponsiveEnv, introspect, look
from compat.cli.commands import main
from compat.envs.cache import VARIABLE, EnvCache
from compat.envs.record import packages, read_env, site_packages, write_record
from compat.project import select_places

WHOLE = "__version__ = '3.4.0'\ndef cdiv(x, y=1): ...\n"


@pytest.fixture
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of envs. Commands run in the folder that contains it."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "envs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "envs"


def compat(*arguments: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, list(arguments), prog_name="compat")
    assert done.exit_code == code, done.output
    return done


def made_up(folder: Path, release: str, source: str) -> None:
    """Make an env in the cache ``folder`` whose Triton is this source."""
    cache = EnvCache(folder)
    (env,) = select_places(envs=[release]).envs
    location = cache.folder_of(env).path / "cp311"
    venv.create(location, symlinks=True)
    site = site_packages(location)
    for path, text in {
        "triton/__init__.py": source,
        f"triton-{release}.dist-info/RECORD": "",
    }.items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(text)
    package_records = [asdict(package) for package in packages(location)]
    write_record(cache.folder_of(env), env, error=None, location="cp311", packages=package_records)


def test_an_env_that_could_not_be_installed_is_broken_and_not_missing(envs: Path) -> None:
    made_up(envs, "3.4.0", WHOLE)
    (env,) = select_places(envs=["3.5.0"]).envs
    write_record(EnvCache(envs).folder_of(env), env, error="No space left on device")
    stdout = compat("api", "triton.cdiv", "--envs", "3.4.0,3.5.0").stdout
    assert "not inspected: 3.5.0: env_broken: No space left on device\n" in stdout


def test_env_without_an_answer_is_reported_and_others_are_inspected(envs: Path) -> None:
    made_up(envs, "3.4.0", WHOLE)
    made_up(envs, "3.5.0", "raise ImportError('\x1b[31mnothing here')")
    made_up(envs, "3.6.0", "import os; os._exit(0)")
    stdout = compat("api", "triton.cdiv").stdout
    assert "triton.cdiv: function, in every release that was inspected\n" in stdout
    assert "not inspected: 3.5.0: env_broken: ImportError: \\x1b[31mnothing here" in stdout
    assert (
        "not inspected: 3.6.0: env_broken: importing Triton ended with exit code 0 and no answer"
        in stdout
    )
    assert (
        "not inspected: 3.0.0–3.3.1, 3.5.1, 3.7.0–3.9.0, not built: `compat envs build 3.0.0"
        in stdout
    )
    done = compat("api", "triton.cdiv", "--envs", "3.5.0,3.6.0", code=4)
    assert "3.5.0: ImportError" in done.stderr


def test_classes_are_listed_with_their_members(envs: Path) -> None:
    source = (
        "import enum, typing\n__version__ = '3.4.0'\nT = typing.TypeVar('T')\nMANY ="
        " typing.List[int]\nLIMIT = 3\nclass Config:\n    def __init__(self, a, *, b=1): self.x ="
        " self._y = a\n    @property\n    def p(self): ...\n    def old(self, *y, **z):\n       "
        " import warnings\n        warnings.warn('old is deprecated')\nclass Mode(enum.Enum):\n   "
        " FAST = 1\ndef gone(x):\n    'Doc.'\n    raise RuntimeError('it has been removed')\n"
    )
    made_up(envs, "3.4.0", source)
    (place,) = look(select_places(envs=["3.4.0"])).inspected_releases
    assert place.namespace is not None
    names = {
        full: (name.kind, name.signature, name.refuses, name.deprecated)
        for full, name in place.namespace.names.items()
    }
    assert names == {
        "triton": ("module", "", "", ()),
        **{f"triton.{name}": ("foreign", "", "", ()) for name in ("MANY", "T", "enum", "typing")},
        "triton.Config": ("class", "(a, *, b=1)", "", ()),
        "triton.Config.old": ("method", "(*y, **z)", "", ("old is deprecated",)),
        "triton.Config.p": ("property", "", "", ()),
        "triton.Config.x": ("attribute", "", "", ()),
        "triton.LIMIT": ("value", "", "", ()),
        "triton.Mode": ("class", "", "", ()),
        "triton.Mode.FAST": ("attribute", "", "", ()),
        "triton.gone": ("function", "(x)", "RuntimeError: it has been removed", ()),
    }


def test_answer_is_kept_until_its_file_is_damaged(envs: Path) -> None:
    made_up(envs, "3.4.0", f"open({str(envs.parent / 'asked')!r}, 'a').write('x')\n{WHOLE}")
    (env,) = select_places(envs=["3.4.0"]).envs
    names_path = EnvCache(envs).folder_of(env).names
    for _ in range(2):
        compat("api", "triton.cdiv", "--envs", "3.4.0")
    assert (envs.parent / "asked").read_text() == "x"
    for damage in (names_path.read_bytes()[:-20], b"other\n{}", b""):
        names_path.write_bytes(damage)
        assert "triton.cdiv(x, y=1)" in compat("api", "triton.cdiv", "--envs", "3.4.0").stdout
    assert (envs.parent / "asked").read_text() == "xxxx"


def test_names_are_packed_again_after_another_program_has_read_them(
    envs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (env,) = select_places(envs=["3.4.0"]).envs
    cache = EnvCache(envs)
    packed = []
    for program, source in (("old", WHOLE), ("new", f"{WHOLE}def newest(x): ...\n")):
        monkeypatch.setattr(inspection, "_key", lambda *_, program=program: program)
        made_up(envs, "3.4.0", source)
        compat("api", "triton.cdiv", "--envs", "3.4.0")
        names = inspection.stored_names([read_env(env, cache)], [Version("3.4.0")], cache)
        assert names is not None
        packed.append(set(names.names))
    assert packed[1] - packed[0] == {"triton.newest"}


@pytest.mark.parametrize(
    "source", ["while True: pass", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_env_that_hangs_or_dies_is_unanswered(envs: Path, source: str) -> None:
    made_up(envs, "3.4.0", source)
    (env,) = select_places(envs=["3.4.0"]).envs
    python = EnvCache(envs).folder_of(env).path / "cp311" / "bin" / "python"
    with pytest.raises(UnresponsiveEnv):
        introspect(str(python), toolchains.DEFAULT, deadline=1)
