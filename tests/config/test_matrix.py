"""``matrix.toml``: what it declares, and the errors for invalid contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig, find_matrix, load_matrix, no_matrix
from compat.errors import ConfigError, SelectionError
from tests.targets import TARGETS
from tests.together import for_each

REPOSITORY = Path(__file__).resolve().parents[2]
HEAD = 'schema = 1\nkernels = ["kernels/*.toml"]\n'
ONE = HEAD + 'env = [{ triton = "3.1.0", groups = ["default"] }]\n'

Load = Callable[[str], MatrixConfig]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.chdir(tmp_path)

    def write_and_load(text: str) -> MatrixConfig:
        path = tmp_path / "matrix.toml"
        path.write_text(text, encoding="utf-8")
        return load_matrix(path)

    return write_and_load


def envs(*inline: str) -> str:
    return HEAD + "env = [\n" + "".join(f"  {table},\n" for table in inline) + "]\n"


GOOD = '{ triton = "3.0.0", groups = ["default"] }'

ERRORS = [
    # the file
    ("schema = ", "is not valid TOML: Invalid value (at end of document)"),
    ("schema = 1\nkernels = []", "kernels: must not be empty"),
    ("schema = 2", "schema: this program reads schema 1, found 2"),
    ("schema = true", "schema: expected a whole number, such as 1, found the boolean true"),
    (ONE + "[defautls]\n", "defautls: unknown key"),
    ("schema = 1\nkernels = [3]", "kernels[0]: expected a string, found the number 3"),
    (
        'schema = 1\nkernels = "k.toml"',
        "kernels: expected an array, such as [\"…\"], found the string 'k.toml'",
    ),
    # environments
    (HEAD + "env = []", "env: must not be empty"),
    (HEAD + "env = 3", "env: expected an array, such as [[env]], found the number 3"),
    (HEAD + "env = [3]", "env[0]: expected a table, found the number 3"),
    (envs(GOOD, "{}"), "env[1]: expected one of triton, wheel and distribution, found none"),
    (envs(GOOD, GOOD), "env[1]: the name 'triton-3.0.0' is already used by env[0]"),
    (envs(GOOD) + "envs = 3\n", "envs: expected a table, found the number 3"),
    (envs(GOOD) + "envs.folders = 'x'\n", "envs.folders: unknown key"),
    (
        envs(GOOD) + "envs.folder = 3\n",
        'envs.folder: expected a string, such as "../envs", found the number 3',
    ),
    (envs(GOOD) + "envs.folder = ''\n", "envs.folder: must not be empty"),
    (envs(GOOD) + "envs.folder = '/dev/null/envs'\n", "envs.folder: /dev/null is not a folder"),
    (
        envs(GOOD) + "envs.folder = '~nobody-of-that-name/envs'\n",
        "envs.folder: '~nobody-of-that-name/envs': the home folder does not exist",
    ),
    (
        envs(GOOD, '{ triton = "3.1.0", name = "Triton-3-0-0" }'),
        "env[1].name: the name 'Triton-3-0-0' is already used by env[0]",
    ),
    (envs(GOOD, '{ triton = "3.1.0" }', '{ tritn = "3.1.0" }'), "env[2].tritn: unknown key"),
    (
        envs("{ triton = 3.0 }"),
        'env[0].triton: expected a string, such as "3.1.0", found the number 3.0',
    ),
    (envs('{ triton = "3.x" }'), "env[0].triton: '3.x' is not a version, such as \"3.1.0\""),
    (envs('{ triton = "" }'), "env[0].triton: must not be empty"),
    (
        envs('{ triton = "3.1.0", torch = ">=2" }'),
        "env[0].torch: '>=2' is not a version, such as \"3.1.0\"",
    ),
    (
        envs('{ triton = "3.1.0", name = "a b" }'),
        "env[0].name: 'a b' is not a valid name: use letters, digits and . _ + -, and first a"
        " letter, a digit or _",
    ),
    (
        envs('{ triton = "3.1.0", groups = "all" }'),
        "env[0].groups: expected an array, such as [\"…\"], found the string 'all'",
    ),
    (
        envs('{ triton = "3.1.0", groups = [1] }'),
        "env[0].groups[0]: expected a string, found the number 1",
    ),
    (
        envs('{ triton = "3.1.0", python = "3.11" }'),
        "env[0].python: '3.11' is not a version specifier, such as \">=3.10,<3.13\"",
    ),
    (
        envs('{ triton = "3.1.0", install = ["numpy ="] }'),
        "env[0].install[0]: 'numpy =' is not a requirement, such as \"numpy<2\"",
    ),
    (
        envs('{ triton = "3.1.0", released = "2026-01-31" }'),
        "env[0].released: expected a date, such as 2026-01-31, found the string '2026-01-31'",
    ),
    (
        envs('{ triton = "3.1.0", released = 2026-01-31T12:00:00 }'),
        "env[0].released: expected a date, such as 2026-01-31, found a datetime",
    ),
    (
        envs('{ triton = "3.1.0", index = "pypi.org" }'),
        "env[0].index: 'pypi.org' is not the URL of a package index",
    ),
    (
        envs('{ wheel = "triton.whl" }'),
        (
            "env[0].wheel: 'triton.whl' is not the name of a wheel"
            " (name-version-python-abi-platform.whl)"
        ),
    ),
    (
        envs('{ wheel = "triton-3.1.0-py3-none-any.whl", triton = "3.1.0" }'),
        "env[0].triton: a wheel has its own version: give triton or wheel, not both",
    ),
    (
        envs('{ wheel = "triton-3.1.0-py3-none-any.whl", distribution = "mine" }'),
        "env[0].distribution: the wheel holds 'triton', not 'mine'",
    ),
    # companions
    (
        ONE + '[[companion]]\ntriton = "3"\ninstall = ["x"]',
        "companion[0].triton: '3' is not a version specifier, such as \">=3.1,<3.9\"",
    ),
    (ONE + '[[companion]]\ntriton = "<3.3"', "companion[0].install: installs nothing"),
    # targets
    (ONE + '[[target]]\nname = "sm_80"', "target[0].name: the target 'sm_80' already exists"),
    (ONE + '[[target]]\nname = "sm_87"', "target[0].backend: is missing"),
    (
        ONE + '[[target]]\nname = "x"\nbackend = "metal"',
        'target[0].backend: expected "cuda" or "hip", found \'metal\'',
    ),
    (
        ONE + '[[target]]\nname = "x"\nbackend = "cuda"\narch = "sm_87"',
        "target[0].arch: expected a whole number, found the string 'sm_87'",
    ),
    (
        ONE + '[[target]]\nname = "x"\nbackend = "cuda"\narch = 87\nwarp_size = 0',
        "target[0].warp_size: must be greater than zero, found 0",
    ),
    # defaults
    (
        ONE + '[defaults]\nenvs = ["defalut"]',
        "defaults.envs[0]: no env, group of envs or release matches 'defalut'",
    ),
    (
        ONE + '[defaults]\ntargets = ["sm_80", "sm80"]',
        "defaults.targets[1]: no target matches 'sm80'",
    ),
    (ONE + "[defaults]\nenvs = []", "defaults.envs: must not be empty"),
    (
        ONE + '[defaults]\ndeadline = "1 min"',
        "defaults.deadline: expected a number, found the string '1 min'",
    ),
    (ONE + "[defaults]\ndeadline = 0", "defaults.deadline: must be greater than zero, found 0"),
    (
        ONE + "[defaults]\nkeep_workers = -1",
        "defaults.keep_workers: must be zero or more, found -1",
    ),
    (ONE + "[defaults]\ndeadline = nan", "defaults.deadline: must be greater than zero, found nan"),
    (
        ONE + '[defaults]\nmemory = "4 GB"',
        "defaults.memory: '4 GB' is not a size, such as \"4 GiB\", or a number of bytes",
    ),
    (ONE + "[defaults]\nmemory = -1", "defaults.memory: must be greater than zero, found -1"),
    (
        ONE + "[defaults]\nmemory = true",
        "defaults.memory: expected a whole number, found the boolean true",
    ),
]


@for_each(("text", "message"), ERRORS)
def test_error_names_the_path_of_the_key(load: Load, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(text)
    assert str(raised.value) == f"matrix.toml: {message}"
    assert raised.value.where
    assert str(raised.value).startswith(raised.value.where)


@for_each(
    ("text", "hint"),
    [
        (envs('{ tritn = "3.1.0" }'), "Did you mean triton?"),
        (ONE + "[defautls]\n", "Did you mean defaults?"),
        (ONE + '[defaults]\nenvs = ["defalut"]', "Did you mean default?"),
        (envs(GOOD, GOOD), 'Give one of them another name = "…".'),
        (
            ONE + "[[companion]]\nxyz = 1",
            "Known keys here: triton, cute, torch, install, why, toolchain.",
        ),
    ],
)
def test_hints_name_the_likely_mistake(load: Load, text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(text)
    assert raised.value.hint == hint


def test_unreadable_files_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigError, match=r"^matrix\.toml: cannot be read: No such file or directory$"
    ):
        load_matrix(tmp_path / "matrix.toml")
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory$"):
        load_matrix(tmp_path)
    (tmp_path / "matrix.toml").write_bytes(b"schema = 1 # \xff")
    with pytest.raises(ConfigError, match=r"^matrix\.toml: is not UTF-8 text \(byte 13\)$"):
        load_matrix(tmp_path / "matrix.toml")


def test_defaults_are_filled_in(load: Load) -> None:
    config = load(ONE)
    assert config.default_envs == ("default",)
    assert tuple(target.name for target in config.default_targets) == ("sm_80", "sm_89", "sm_90")
    assert config.deadline == 60.0
    assert config.keep_workers == 300.0
    assert config.memory == 4 * 1024**3
    assert config.targets == toolchains.targets()
    assert config.base == config.path.parent


@pytest.mark.parametrize(
    ("text", "size"), [('"512 MiB"', 512 * 1024**2), ('"1.5GiB"', 3 * 1024**3 // 2), ("1000", 1000)]
)
def test_memory_sizes_are_parsed(load: Load, text: str, size: int) -> None:
    assert load(ONE + f"[defaults]\nmemory = {text}").memory == size


def test_env_names_are_derived_from_declarations(load: Load) -> None:
    config = load(
        envs(
            GOOD,
            '{ triton = "3.1.0", torch = "2.5.1" }',
            '{ triton = "3.1.0", torch = "2.5.1", name = "mine" }',
            '{ wheel = "wheels/triton-3.1.0+fork1-cp311-cp311-linux_x86_64.whl" }',
            '{ wheel = "https://example.org/a%2Bb/triton_fork-3.2.0%2Bx-py3-none-any.whl" }',
            '{ distribution = "Triton.Nightly", index = "https://example.org/simple" }',
        )
    )
    assert [env.name for env in config.envs] == [
        "triton-3.0.0",
        "triton-3.1.0-torch-2.5.1",
        "mine",
        "triton-3.1.0+fork1",
        "triton-fork-3.2.0+x",
        "triton-nightly",
    ]


def test_fork_takes_its_release_from_the_name_of_its_wheel(load: Load) -> None:
    config = load(
        envs(GOOD, '{ wheel = "wheels/triton-3.1.0+fork1-cp311-cp311-linux_x86_64.whl" }')
    )
    fork = config.envs[1]
    assert fork.wheel == str(config.base / "wheels/triton-3.1.0+fork1-cp311-cp311-linux_x86_64.whl")
    assert fork.release == Version("3.1.0+fork1")
    assert fork.distribution == "triton"


COMPANIONS = (
    '[[companion]]\ntriton = "<3.3"\ninstall = ["setuptools<81"]\n[[companion]]\ntorch ='
    ' "<2.6"\ninstall = ["numpy<2", "six"]\n'
)


def test_companions_join_the_envs_they_match(load: Load) -> None:
    config = load(
        envs(
            GOOD,
            '{ triton = "3.2.0", torch = "2.5.1", install = ["six"] }',
            '{ triton = "3.3.0" }',
            '{ triton = "3.3.0", torch = "2.6.0" }',
            '{ distribution = "fork" }',
        )
        + COMPANIONS
    )
    assert [env.install for env in config.envs] == [
        ("setuptools<81",),
        ("six", "setuptools<81", "numpy<2"),
        (),
        ("numpy==1.26.4; python_version < '3.13'", "numpy<2.4; python_version >= '3.13'"),
        (),
    ]


def test_built_in_companions_yield_to_declared_packages(load: Load) -> None:
    pair = '{ triton = "3.2.0", torch = "2.6.0", groups = ["default"]'
    assert load(envs(pair + " }")).envs[0].install == (
        "setuptools<81",
        "numpy==1.26.4; python_version < '3.13'",
        "numpy<2.4; python_version >= '3.13'",
    )
    assert load(envs(pair + ', install = ["NumPy==2.0"] }')).envs[0].install == (
        "NumPy==2.0",
        "setuptools<81",
    )
    own = '[[companion]]\ntorch = "==2.6"\ninstall = ["numpy<2", "einops"]\n'
    assert load(envs(pair + " }") + own).envs[0].install == ("numpy<2", "einops", "setuptools<81")
    assert load(envs(pair + " }") + "companion = []").envs[0].install == ()


def test_undeclared_env_is_made_from_its_name(load: Load) -> None:
    config = load(ONE + COMPANIONS)
    made_up = config.env("triton-3.2.0-torch-2.5.1")
    assert (made_up.release, made_up.framework_release) == (Version("3.2.0"), Version("2.5.1"))
    assert made_up.install == ("setuptools<81", "numpy<2", "six")
    assert config.env("triton-3.1.0") is config.envs[0]


@for_each(
    "name",
    [
        "triton-",
        "triton-abc",
        "torch-2.5.1",
        "triton-3.1.0-torch",
        "triton-3.1.0-torch-x",
        "default",
    ],
)
def test_name_that_does_not_state_releases_is_an_unknown_env(load: Load, name: str) -> None:
    with pytest.raises(SelectionError, match="unknown env"):
        load(ONE).env(name)


def test_declared_target_belongs_to_its_matrix_only(load: Load) -> None:
    text = (
        '[[target]]\nname = "sm_87"\nbackend = "cuda"\narch = 87\nwarp_size = 32\nshared_memory ='
        " 166912\n"
    )
    config = load(ONE + text + '[defaults]\ntargets = ["sm_8*"]')
    assert next(target for target in config.targets if target.name == "sm_87").arch == 87
    assert "sm_87" not in TARGETS


def test_this_repositorys_matrix_declares_the_expected_envs() -> None:
    config = load_matrix(REPOSITORY / "matrix.toml")
    chosen = [env.name for env in config.choose_envs()]
    assert chosen == [
        "triton-3.0.0-torch-2.4.1",
        "triton-3.1.0-torch-2.5.1",
        "triton-3.5.1-torch-2.9.1",
    ]
    counts = Counter(group for env in config.envs for group in env.groups)
    assert (counts["pairs"], counts["releases"]) == (10, 13)
    # Neither 3.0, 3.1 nor 3.2 can be imported without setuptools, which none of them declares.
    needing = [env for env in config.envs if env.release and env.release < Version("3.3")]
    assert len(needing) == 6
    assert all("setuptools<81" in env.install for env in needing)


@for_each(
    ("text", "message"),
    [
        ("a = " + "[" * 100_000, "nested too deeply"),
        (".".join(["a"] * 50_000) + " = 1", "nested too deeply"),
        ("a = " + "9" * 5000, "is not valid TOML"),
        ('schema = 1\nkernels = ["a\\u0000b"]\n', "kernels[0]: contains a control character"),
        ('schema = 1\nkernels = ["\\u001b[31m"]\n', "kernels[0]: contains a control character"),
        (
            (
                'schema = 1\nkernels = ["k"]\nenv = [{ triton = "3.1.0" }]\n[defaults]\ndeadline ='
                " inf\n"
            ),
            "defaults.deadline: must be at most",
        ),
        (
            (
                'schema = 1\nkernels = ["k"]\nenv = [{ triton = "3.1.0" }]\n[defaults]\ndeadline ='
                " nan\n"
            ),
            "must be greater than zero",
        ),
        (
            f'schema = 1\nkernels = ["k"]\nenv = [{{ triton = "{"9" * 5000}" }}]\n',
            "env[0].triton: '9999",
        ),
        (
            (
                'schema = 1\nkernels = ["k"]\nenv = [{ triton = "3.1.0" }]\n[defaults]\nmemory ='
                f' "{"9" * 400} GiB"\n'
            ),
            "defaults.memory: ",
        ),
        ("\ud800", "is not UTF-8 text"),
    ],
)
def test_hostile_toml_is_one_short_usage_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(ConfigError) as caught:
        load_matrix(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


# --- built-in envs --------------------------------------------------------------------------------


def test_folder_without_a_matrix_file_has_every_release(tmp_path: Path) -> None:
    config = no_matrix(tmp_path)
    assert (config.path, config.path.exists(), config.kernels) == (
        tmp_path / "matrix.toml",
        False,
        (),
    )
    assert [env.name for env in config.choose_envs()] == [
        env.name for env in config.envs if "releases" in env.groups
    ]
    assert all(not env.has_framework for env in config.choose_envs())
    assert [target.name for target in config.choose_targets()] == [
        "sm_80",
        "sm_89",
        "sm_90",
        "sm_90a",
    ]


@pytest.mark.parametrize(
    "text", ["", 'kernels = ["k.toml"]', "schema = 1\n[defaults]\ndeadline = 3\n"]
)
def test_file_without_envs_has_the_built_in_ones(load: Load, tmp_path: Path, text: str) -> None:
    assert load(text).envs == no_matrix(tmp_path).envs
    assert load(text).choose_envs() == no_matrix(tmp_path).choose_envs()


def test_declared_envs_are_the_default_and_others_can_be_named(load: Load) -> None:
    config = load(HEAD + 'env = [{ triton = "3.1.0" }, { triton = "3.5.1", torch = "2.9.1" }]')
    own = ["triton-3.1.0", "triton-3.5.1-torch-2.9.1"]
    assert [env.name for env in config.choose_envs()] == own
    assert [env.name for env in config.choose_envs(["*"])] == own
    assert [env.name for env in config.choose_envs(["3.9", "3.5.1", "triton-3.0.0"])] == [
        own[1],
        "triton-3.0.0",
        "triton-3.9.0",
    ]
    assert config.choose_envs(["3.0.0"])[0].install == ("setuptools<81",)
    assert len(config.choose_envs(["releases"])) == 13


def test_nearest_matrix_file_within_the_repository_is_found(tmp_path: Path) -> None:
    inside = tmp_path / "repository" / "src" / "kernels"
    inside.mkdir(parents=True)
    (tmp_path / "matrix.toml").touch()
    assert find_matrix(inside) is None
    (tmp_path / "repository" / ".git").mkdir()
    assert find_matrix(inside) is None
    (tmp_path / "repository" / "matrix.toml").touch()
    assert find_matrix(inside) == tmp_path / "repository" / "matrix.toml"
    (inside / "matrix.toml").touch()
    assert find_matrix(inside) == inside / "matrix.toml"
    assert find_matrix(tmp_path) == tmp_path / "matrix.toml"
