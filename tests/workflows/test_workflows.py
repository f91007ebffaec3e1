"""The files of ``compat init --github`` and ``--gitlab``: goldens, linters, and envs of the jobs.

The command overwrites no file.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from compat import __version__, workflows
from compat.cli.commands import main
from compat.config.matrix import load_matrix, no_matrix
from compat.errors import ConfigError
from compat.workflows import FEW, JOBS, SHARD, SHARDS, System, groups, jobs, workflow_files
from tests.together import for_each
from tests.workflows.linters import ROOT, lint

KERNEL = (ROOT / "tests" / "guess" / "sources" / "plain_softmax.py").read_text(encoding="utf-8")
CUTE_KERNEL = """
import cutlass.cute as cute


@cute.kernel
def fill(x: cute.Tensor):
    x[0] = 1


@cute.jit
def run(x: cute.Tensor):
    fill(x).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""
GOLDEN = {
    ".github/workflows/triton-compat.yml": "github.yml",
    ".github/workflows/triton-compat-nightly.yml": "nightly.yml",
    ".github/workflows/triton-compat-board.yml": "board.yml",
    ".gitlab/triton-compat.yml": "gitlab.yml",
    ".gitlab-ci.yml": "gitlab-ci.yml",
}
ODD = 'env = [{ triton = "3.8.0", name = "o.d_d+1" }, { triton = "3.9.0+ours" }]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a kernel and nothing else."""
    (tmp_path / "softmax.py").write_text(KERNEL, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflows, "_origin", dict)
    return tmp_path


def init(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["init", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def matrix(folder: Path, text: str) -> Path:
    path = folder / "matrix.toml"
    path.write_text(f'schema = 1\nkernels = ["*.toml"]\n{text}', encoding="utf-8")
    return path


# --- the files ------------------------------------------------------------------------------------


def test_written_files_match_the_goldens(folder: Path, golden: Callable[[str, str], None]) -> None:
    output = init("--github", "--nightly", "--board", "--gitlab")
    for name, golden_file in GOLDEN.items():
        assert f"wrote {name}\n" in output
        golden(golden_file, _released(folder / name))
    assert "look at" not in output


def _released(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace(f"=={__version__}", "==VERSION")


def test_written_files_pass_the_linters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One start of each linter reads the files of both repositories, and names a bad file."""
    for name, inside, text in (("plain", ".", ""), ("odd", "kernels of ours", ODD)):
        repository = tmp_path / name
        (repository / inside).mkdir(parents=True)
        (repository / ".git").mkdir()
        monkeypatch.chdir(repository)
        config = load_matrix(matrix(repository / inside, text))
        for system in System:
            for path, content in workflow_files(system, config).texts.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
    lint("workflow", *sorted(tmp_path.glob("*/.github/workflows/*")))
    lint("gitlab", *sorted(tmp_path.glob("*/.gitlab-ci.yml")), *tmp_path.glob("*/.gitlab/*"))


@pytest.mark.parametrize(
    ("envs", "newest", "chosen"),
    [
        ("releases", "newest", ["triton-3.9.0"]),
        ('releases", "cute-releases', "triton-newest,cute-newest", ["triton-3.9.0", "cute-4.8.1"]),
    ],
)
def test_every_night_tries_the_newest_release_of_each_toolchain(
    envs: str, newest: str, chosen: list[str], folder: Path
) -> None:
    config = load_matrix(matrix(folder, f'defaults = {{ envs = ["{envs}"] }}'))
    (text,) = workflow_files(System.NIGHTLY, config).texts.values()
    assert f"--envs {newest} --output" in text
    assert f'--envs "{newest},$new"' in text
    assert [env.name for env in config.choose_envs([newest])] == chosen


def test_project_inside_a_repository_gets_its_files_at_the_root(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    (folder / "softmax.py").rename(inner / "softmax.py")
    monkeypatch.chdir(inner)
    init("--github", "--gitlab")
    github = YAML(typ="safe").load(folder / ".github" / "workflows" / "triton-compat.yml")
    job = github["jobs"]["matrix"]
    assert job["defaults"] == {"run": {"working-directory": "a/b"}}
    assert [step["with"]["path"] for step in job["steps"] if step.get("id") == "results"] == [
        "a/b/.compat"
    ]
    assert (folder / ".gitlab-ci.yml").exists()
    assert not (inner / ".github").exists()


def test_folder_name_that_workflows_cannot_contain_is_an_error(folder: Path) -> None:
    (folder / "${{ x }}").mkdir()
    with pytest.raises(ConfigError, match="workflows cannot contain the name of this folder"):
        workflow_files(System.GITHUB, no_matrix(folder / "${{ x }}"))


def test_error_is_reported_before_any_file_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "${{ x }}"
    inner.mkdir()
    (folder / "softmax.py").rename(inner / "softmax.py")
    monkeypatch.chdir(inner)
    assert CliRunner().invoke(main, ["init", "--github"]).exit_code == 2
    assert [path.name for path in inner.iterdir()] == ["softmax.py"]


def test_existing_files_are_kept(folder: Path) -> None:
    for name in (".github/workflows/triton-compat.yml", ".gitlab-ci.yml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine\n")
    output = init("--github", "--gitlab")
    assert "kept  .github/workflows/triton-compat.yml, which exists\n" in output
    assert (
        "kept  .gitlab-ci.yml, which exists: add to it `include: [{ local:"
        " /.gitlab/triton-compat.yml }]`\n" in output
    )
    assert (folder / ".github/workflows/triton-compat.yml").read_text() == "mine\n"
    before = (folder / ".gitlab/triton-compat.yml").read_bytes()
    assert "wrote" not in init("--github", "--gitlab")
    assert (folder / ".gitlab/triton-compat.yml").read_bytes() == before


def test_first_init_divides_the_envs_of_the_matrix_that_it_writes(folder: Path) -> None:
    (folder / "copy.py").write_text(CUTE_KERNEL)
    init("--github")
    github = YAML(typ="safe").load(folder / ".github" / "workflows" / "triton-compat.yml")
    (job,) = github["jobs"]["matrix"]["strategy"]["matrix"]["include"]
    assert job["envs"] == "releases,cute-releases"


def test_init_without_the_options_writes_no_workflow(folder: Path) -> None:
    init()
    assert not {".github", ".gitlab", ".gitlab-ci.yml"} & {path.name for path in folder.iterdir()}


# --- envs that the jobs try -----------------------------------------------------------------------


def test_groups_of_all_releases_are_ranges_and_the_last_is_open(folder: Path) -> None:
    env_groups = groups(no_matrix(folder))
    assert len(env_groups) == JOBS
    assert env_groups[0].envs.startswith("<")
    assert env_groups[-1].envs.startswith(">=")
    assert "<" not in env_groups[-1].envs


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[defaults]\nenvs = ["3.1", "3.5"]\n',
        '[defaults]\nenvs = ["pairs"]\n',
        '[defaults]\nenvs = ["releases", "3.5.1-torch-2.9.1"]\n',
        'env = [{ triton = "3.8.0" }, { triton = "3.9.0" }]\n',
        'env = [{ triton = "3.8.0" }, { wheel = "ours-1.0-py3-none-any.whl", name = "ours" }]\n',
        ODD,
    ],
)
def test_each_env_is_tried_in_one_job(text: str, folder: Path) -> None:
    config = load_matrix(matrix(folder, text))
    env_names = [env.name for group in groups(config) for env in config.choose_envs([group.envs])]
    assert sorted(env_names) == sorted(env.name for env in config.choose_envs())
    assert len(groups(config)) <= JOBS
    names = [group.name for group in groups(config)]
    assert len(set(names)) == len(names)
    (only,) = groups(config, 1)
    assert config.choose_envs([only.envs]) == config.choose_envs()


# --- source of the installation -------------------------------------------------------------------


@for_each(
    ("origin", "text", "unsure"),
    [
        (None, f"triton-compat[uv]=={__version__}", False),
        (
            {"url": "file:///home/me/triton-compat", "dir_info": {}},
            f"triton-compat[uv]=={__version__}",
            True,
        ),
        (
            {"url": "https://example.com/t.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "triton-compat[uv] @ git+https://example.com/t.git@abc",
            False,
        ),
        (
            {"url": "https://example.com/t.whl", "archive_info": {}},
            "triton-compat[uv] @ https://example.com/t.whl",
            False,
        ),
        ("[", f"triton-compat[uv]=={__version__}", True),
    ],
)
def test_jobs_install_from_the_source_of_this_installation(
    origin: object, text: str, unsure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "triton_compat-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: triton-compat\nVersion: 1\n")
    if origin is not None:
        (info / "direct_url.json").write_text(
            origin if isinstance(origin, str) else json.dumps(origin)
        )
    monkeypatch.setattr(workflows, "distribution", lambda _: metadata.Distribution.at(info))
    requirement = workflows.requirement()
    assert (requirement.text, bool(requirement.unsure)) == (text, unsure)


def test_init_warns_if_a_ci_cannot_install_this_installation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflows, "_origin", lambda: {"url": "file:///here"})
    output = init("--github")
    assert (
        f"  .github/workflows/triton-compat.yml: it installs triton-compat[uv]=={__version__}, but"
        " this installation came from" in output
    )


def test_scripts_of_workflows_are_valid_shell(folder: Path) -> None:
    """The shell parses every script of a workflow. A script that fails makes its step fail."""
    init("--github", "--nightly", "--board", "--gitlab")
    gitlab = YAML(typ="safe").load(folder / ".gitlab" / "triton-compat.yml")
    workflows = (folder / ".github" / "workflows").iterdir()
    scripts = [
        step["run"]
        for path in workflows
        for job in YAML(typ="safe").load(path)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    scripts += [
        "\n".join([*gitlab[".triton-compat"]["before_script"], *gitlab[job]["script"]])
        for job in gitlab
        if "." not in job
    ]
    assert len(scripts) == 17
    for script in scripts:
        assert (
            subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
        ), script


BOARD_REPOSITORY = "https://x-access-token:TOKEN@github.com/us/it"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def commit(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / "board" / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


def test_board_keeps_its_data_if_the_branch_has_moved(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run takes hours, and its checkout has the commit of its start, without history."""
    init("--board")
    jobs = YAML(typ="safe").load(folder / ".github/workflows/triton-compat-board.yml")["jobs"]
    [script] = [step["run"] for step in jobs["keep"]["steps"] if "run" in step]
    top = tmp_path_factory.mktemp("board")
    origin, ours, runner = top / "origin.git", top / "ours", top / "runner"
    settings = top / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    git(top, "config", "--global", f"url.{origin.as_uri()}.insteadOf", BOARD_REPOSITORY)
    git(top, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    git(top, "init", "--quiet", "--initial-branch=main", str(ours))
    (ours / "board").mkdir()
    commit(ours, data="old", known="old")
    commit(ours, data="before", known="before")
    git(ours, "push", "--quiet", origin.as_uri(), "main")
    git(top, "clone", "--quiet", "--depth=1", origin.as_uri(), str(runner))
    commit(ours, known="after")
    git(ours, "push", "--quiet", origin.as_uri(), "main")
    (runner / "board" / "data").write_text("after", encoding="utf-8")
    environ = {
        **os.environ,
        "GH_TOKEN": "TOKEN",
        "GITHUB_REPOSITORY": "us/it",
        "GITHUB_REF": "refs/heads/main",
    }
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=runner,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    kept = [git(origin, "show", f"main:board/{name}") for name in ("data", "known")]
    assert kept == ["after", "after"]


def test_pipeline_of_many_jobs_is_within_the_limits_of_gitlab(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``needs``, there may be 50 jobs, and their names may have 128 characters."""
    monkeypatch.setattr(workflows, "_cells", lambda _: 10**9)
    config = load_matrix(matrix(folder, '[defaults]\nenvs = ["releases", "pairs"]\n'))
    texts = workflow_files(System.GITLAB, config).texts
    pipeline = YAML(typ="safe").load(texts[folder / ".gitlab" / "triton-compat.yml"])
    entries = pipeline["triton-compat"]["parallel"]["matrix"]
    names = [f"triton-compat: [{', '.join(entry.values())}]" for entry in entries]
    assert 50 < len(names) <= 200
    assert 128 < max(map(len, names)) <= 255
    report = pipeline["triton-compat-report"]
    assert (report["stage"], report["dependencies"]) == (".post", ["triton-compat"])
    assert "needs" not in report


CURL = """#!/bin/sh
case "$*" in
*"$ACCEPTED"*/jobs/artifacts/main/raw/reports/matrix.json*) echo "{}" > base.json ;;
*) exit 22 ;;
esac
"""
"""A replacement of curl. It downloads the artifact if the command has the accepted token."""


@pytest.mark.parametrize(
    ("token", "accepted", "is_compared"),
    [
        ("", "JOB-TOKEN: job", True),
        ("", "PRIVATE-TOKEN: mine", False),
        ("mine", "PRIVATE-TOKEN: mine", True),
    ],
)
def test_gitlab_compares_with_the_token_that_it_accepts(
    token: str, accepted: str, is_compared: bool, folder: Path
) -> None:
    """GitLab Free accepts no token of a job for artifacts."""
    init("--gitlab")
    pipeline = YAML(typ="safe").load(folder / ".gitlab" / "triton-compat.yml")
    [script] = [
        line for line in pipeline["triton-compat-report"]["script"] if "compat diff base" in line
    ]
    programs = folder / "programs"
    programs.mkdir()
    for name, text in (("curl", CURL), ("compat", "#!/bin/sh\necho compared\n")):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    environ = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "ACCEPTED": accepted,
        "CI_API_V4_URL": "https://gitlab.example.com/api/v4",
        "CI_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_IID": "2",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_JOB_TOKEN": "job",
        "COMPAT_TOKEN": token,
    }
    command = ["bash", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == ("compared\n" if is_compared else "")


def test_few_cells_are_one_job_and_many_are_shards(folder: Path) -> None:
    config = load_matrix(matrix(folder, ""))
    assert [(job.envs, job.shard) for job in jobs(config, FEW)] == [(">=0", "1/1")]
    assert jobs(config, FEW + 1) == jobs(config, JOBS * SHARD) == groups(config)
    many = jobs(config, JOBS * SHARD + 1)
    assert [job.shard for job in many] == ["1/2", "2/2"] * JOBS
    assert len({job.name for job in many}) == len(many) == 2 * JOBS
    assert len(jobs(config, 10**9)) == JOBS * SHARDS


def test_each_pytorch_pair_has_a_job_with_a_disk_of_its_own(folder: Path) -> None:
    config = load_matrix(
        matrix(folder, '[defaults]\nenvs = ["3.1.0-torch-2.5.1", "3.5.1-torch-2.9.1"]\n')
    )
    assert len(jobs(config, 1)) == 2
