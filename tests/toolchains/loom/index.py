"""A package index with the loom's releases."""

from __future__ import annotations

from pathlib import Path

from tests.envs.conftest import write_wheel

PACKAGE = Path(__file__).parent / "package" / "loom.py"
STRICT = {"1.0": False, "1.1": False, "2.0": True}
"""Release → whether it refuses rows of different lengths."""


def write_index(folder: Path) -> None:
    """Write the wheels of all releases, and the page that lists them."""
    for release, strict in STRICT.items():
        text = (
            PACKAGE.read_text()
            .replace('"1.0"', f'"{release}"')
            .replace("STRICT = False", f"STRICT = {strict}")
        )
        info = f"loom-{release}.dist-info"
        files = {
            "loom.py": text,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: loom\nVersion: {release}\n",
            f"{info}/WHEEL": (
                "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            ),
        }
        write_wheel(
            folder / f"loom-{release}-py3-none-any.whl",
            {name: text.encode() for name, text in files.items()},
            info,
        )
    links = (f'<a href="{wheel.name}">{wheel.name}</a>' for wheel in sorted(folder.glob("*.whl")))
    (folder / "index.html").write_text("\n".join(links))
