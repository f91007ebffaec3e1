"""Releases that appear on a package index: which count as new, and how they are declared."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.version import Version

from compat import new_releases as module
from compat.cli.commands import main
from compat.config.matrix import load_matrix, no_matrix
from compat.errors import ConfigError, EnvError, IndexUnavailable
from compat.new_releases import NewRelease, NewReleases, add_releases, new_releases
from compat.toolchains import look_up
from tests.together import for_each

TAG = "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"
KNOWN = "3.8.0"
NEW = "3.95.0"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """An index in a folder, as PEP 503 defines it. Call it with the files of a distribution."""
    folder = tmp_path / "simple"

    def publish(distribution: str, *versions: str, tag: str = TAG, yanked: bool = False) -> None:
        page = folder / distribution / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        module_name = distribution.replace("-", "_")
        links = (
            f'<a href="{module_name}-{version}-{tag}.whl"{" data-yanked" * yanked}>x</a>\n'
            for version in versions
        )
        page.write_text(
            (page.read_text() if page.exists() else "") + "".join(links), encoding="utf-8"
        )

    monkeypatch.setenv("UV_DEFAULT_INDEX", folder.as_uri())
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return publish


def releases_after(folder: Path, *patterns: str) -> NewReleases:
    config = no_matrix(folder)
    return new_releases(config, config.choose_envs(patterns))


def names(answer: NewReleases) -> list[str]:
    return [release.env.name for release in answer.releases]


# --- which count ----------------------------------------------------------------------------------


def test_a_release_that_no_env_declares_is_new(index: Callable[..., None], tmp_path: Path) -> None:
    index("triton", KNOWN, NEW, "3.94.2")
    answer = releases_after(tmp_path)
    assert names(answer) == ["triton-3.94.2", f"triton-{NEW}"]
    assert [release.after and release.after.name for release in answer.releases] == [
        "triton-3.9.0",
        "triton-3.9.0",
    ]


def test_a_late_patch_of_an_old_series_is_new_and_comes_after_its_own_series(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", "3.5.9")
    (release,) = releases_after(tmp_path).releases
    assert release.after is not None
    assert (release.env.name, release.after.name) == ("triton-3.5.9", "triton-3.5.1")


@pytest.mark.parametrize("version", ["3.95.0rc1", "3.95.0.dev3", "3.95.0+local", "2.1.0"])
def test_pre_releases_local_builds_and_releases_before_the_oldest_do_not_count(
    version: str, index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", KNOWN, version)
    assert names(releases_after(tmp_path)) == []


def test_a_release_without_a_wheel_for_this_platform_does_not_count(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", NEW, tag="cp311-cp311-win_amd64")
    assert names(releases_after(tmp_path)) == []
    index("triton", NEW)
    (tmp_path / ".compat").rename(tmp_path / "old answers")
    assert names(releases_after(tmp_path)) == [f"triton-{NEW}"]


def test_a_withdrawn_release_does_not_count(index: Callable[..., None], tmp_path: Path) -> None:
    index("triton", NEW, yanked=True)
    assert names(releases_after(tmp_path)) == []


def test_a_release_that_matrix_toml_declares_is_not_new(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", "3.94.0", NEW)
    path = tmp_path / "matrix.toml"
    path.write_text('schema = 1\nkernels = ["*.toml"]\nenv = [{ triton = "3.94.0" }]\n')
    config = load_matrix(path)
    assert names(new_releases(config, config.choose_envs())) == [f"triton-{NEW}"]
    assert names(new_releases(config, config.choose_envs(["3.9.0"]))) == [f"triton-{NEW}"]


def test_only_the_toolchains_of_the_chosen_envs_are_looked_up(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", NEW)
    index("nvidia-cutlass-dsl", "4.99.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    assert names(releases_after(tmp_path)) == [f"triton-{NEW}"]
    assert names(releases_after(tmp_path, "cute-releases")) == ["cute-4.99.0"]
    assert names(releases_after(tmp_path, "releases", "cute-releases")) == [
        f"triton-{NEW}",
        "cute-4.99.0",
    ]


def test_a_new_framework_is_paired_with_the_release_that_it_requires(
    index: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks_for = {"2.95.0": "3.9.0", "2.96.0": NEW, "2.97.0": None}
    monkeypatch.setattr(
        module,
        "pin_of",
        lambda config, version, toolchain: (pin := asks_for[str(version)]) and Version(pin),
    )
    index("torch", "2.9.0", "2.14.1", *asks_for)
    answer = releases_after(tmp_path, "pairs")
    assert names(answer) == ["triton-3.9.0-torch-2.95.0", f"triton-{NEW}-torch-2.96.0"]
    assert {release.after and release.after.name for release in answer.releases} == {
        "triton-3.9.0-torch-2.15.0"
    }


def test_a_framework_without_known_requirements_is_an_error(
    index: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index("torch", "2.95.0")  # the index has no metadata for it
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    with pytest.raises(EnvError, match=r"cannot determine what torch 2\.95\.0 requires"):
        releases_after(tmp_path, "pairs")


def test_an_index_that_does_not_answer_is_an_error(
    index: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    with pytest.raises(IndexUnavailable):
        releases_after(tmp_path)


# --- declaring them -------------------------------------------------------------------------------


def release(name: str, published: date | None = date(2026, 12, 1)) -> NewRelease:
    return NewRelease(env=no_matrix(Path("/")).env(name), after=None, published=published)


def added_lines(path: Path, source: Path, releases: Sequence[NewRelease]) -> list[str]:
    """The lines that are added to a copy of a file. No other line may change."""
    before = source.read_text(encoding="utf-8")
    path.write_text(before, encoding="utf-8")
    assert add_releases(path, releases) == tuple(releases)
    old, new = before.splitlines(), path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in new if line not in old]
    assert [line for line in new if line not in lines] == old
    return lines


def test_releases_are_added_to_the_files_of_the_toolchains(tmp_path: Path) -> None:
    triton = look_up("triton").releases
    assert triton
    cute = look_up("cute").releases
    assert cute
    path = tmp_path / "releases.toml"
    two = [release("triton-3.95.0"), release("triton-3.95.0-torch-2.96.0")]
    assert added_lines(path, triton, two) == [
        '  { triton = "3.95.0", groups = ["releases"] },',
        '  { triton = "3.95.0", torch = "2.96.0", groups = ["pairs"] },',
    ]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[lines.index('  { triton = "3.95.0", groups = ["releases"] },') - 1].startswith(
        '  { triton = "3.9.0", groups'
    )
    assert added_lines(path, cute, [release("cute-4.99.0")]) == [
        '  { cute = "4.99.0", python = "==3.12.*", groups = ["cute-releases"],'
        " released = 2026-12-01 },"
    ]


def test_the_rest_of_a_file_stays_as_it_is(tmp_path: Path) -> None:
    """Its link, permissions, byte order mark, line ends, and lines with odd characters."""
    real, path = tmp_path / "real.toml", tmp_path / "matrix.toml"
    path.symlink_to(real)
    lines = ["\ufeffenv = [", '  { triton = "3.9.0" }, # a \u2028 b', "]", ""]
    real.write_bytes("\r\n".join(lines).encode())
    real.chmod(0o600)
    add_releases(path, [release("triton-3.95.0")])
    lines.insert(2, lines[1].replace("3.9.0", "3.95.0"))
    assert real.read_bytes() == "\r\n".join(lines).encode()
    assert path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_file_without_entries_of_the_toolchain_stays_unchanged(tmp_path: Path) -> None:
    cute = look_up("cute").releases
    assert cute
    path = tmp_path / "releases.toml"
    before = cute.read_bytes()
    path.write_bytes(before)
    assert add_releases(path, [release("triton-3.95.0")]) == ()
    assert path.read_bytes() == before


@for_each(
    ("text", "why"),
    [
        ('env = [{ triton = "3.9.0" }]\n', "has no line of its own"),
        ('[[env]]\ntriton = "3.9.0"\n', "has no line of its own"),
        ('env = [\n  { triton="3.9.0" },\n]\n', "cannot be copied"),
        ('env = [\n  { triton = "3.9.0", released = 2026-10-27 },\n]\n', "does not say when"),
        ("env = [", "releases.toml"),
    ],
)
def test_a_file_in_another_form_is_an_error_and_stays_unchanged(
    text: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "releases.toml"
    path.write_text(f"schema = 1\n{text}")
    with pytest.raises(ConfigError, match=why):
        add_releases(path, [release("triton-3.95.0", None)])
    assert path.read_text() == f"schema = 1\n{text}"


# --- the command ----------------------------------------------------------------------------------


def run(*arguments: str) -> Mapping[str, str]:
    done = CliRunner().invoke(main, ["envs", "new", *arguments])
    assert done.exit_code == 0, done.output
    return {"out": done.stdout, "err": done.stderr}


def test_the_command_prints_a_value_that_selects_the_new_envs(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", KNOWN, "3.94.0", NEW)
    assert run() == {"out": f"triton-3.94.0,triton-{NEW}\n", "err": ""}
    config = no_matrix(tmp_path)
    pattern = f"newest,{run()['out'].strip()}"
    assert [env.name for env in config.choose_envs([pattern])] == [
        "triton-3.9.0",
        "triton-3.94.0",
        f"triton-{NEW}",
    ]


def test_the_empty_output_without_new_releases_selects_no_further_env(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", KNOWN)
    assert run() == {"out": "\n", "err": "note: every release of the package index is declared\n"}
    chosen = no_matrix(tmp_path).choose_envs([f"newest,{run()['out'].strip()}"])
    assert [env.name for env in chosen] == ["triton-3.9.0"]


def test_the_command_adds_releases_which_are_then_no_longer_new(
    index: Callable[..., None], tmp_path: Path
) -> None:
    index("triton", NEW)
    path = tmp_path / "matrix.toml"
    path.write_text('schema = 1\nkernels = ["*.toml"]\nenv = [\n  { triton = "3.9.0" },\n]\n')
    output = run("--json", "--add", "matrix.toml")
    assert json.loads(output["out"]) == [
        {
            "name": f"triton-{NEW}",
            "toolchain": "triton",
            "release": NEW,
            "framework_release": None,
            "published": None,
            "after": "triton-3.9.0",
        }
    ]
    assert output["err"] == f"matrix.toml: added triton-{NEW}\n"
    assert [env.name for env in load_matrix(path).envs] == ["triton-3.9.0", f"triton-{NEW}"]
    assert run("--json")["out"] == "[]\n"


def test_the_day_of_publication_is_that_of_the_first_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for number, tag in enumerate((TAG, TAG.replace("311", "312"))):
        path = wheels / f"triton-{NEW}-{tag}.whl"
        path.touch()
        at = datetime(2026, 12, 3 - number, 12, tzinfo=UTC).timestamp()
        os.utime(path, (at, at))
    monkeypatch.setattr(module, "index_urls", lambda: (str(wheels),))
    (one,) = releases_after(tmp_path).releases
    assert one.published == date(2026, 12, 2)
