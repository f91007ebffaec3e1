"""How launches of Triton kernels are captured: which GPU a program is made to believe in, and what of the environment matters.

Which GPU stands for an architecture is what ``compat/standin/pytorch.py`` assumes too; a test holds the two together.
"""

from __future__ import annotations

from compat.toolchains.base import Capturing, Model

CAPTURING = Capturing(
    models={
        "sm_70": Model(name="Tesla V100-SXM2-16GB", multiprocessors=80),
        "sm_75": Model(name="Tesla T4", multiprocessors=40),
        "sm_80": Model(name="NVIDIA A100-SXM4-80GB", multiprocessors=108),
        "sm_86": Model(name="NVIDIA GeForce RTX 3090", multiprocessors=82),
        "sm_89": Model(name="NVIDIA GeForce RTX 4090", multiprocessors=128),
        "sm_90": Model(name="NVIDIA H100 80GB HBM3", multiprocessors=132),
        "sm_100": Model(name="NVIDIA B200", multiprocessors=148),
        "sm_120": Model(name="NVIDIA GeForce RTX 5090", multiprocessors=170),
        "gfx90a": Model(name="AMD Instinct MI250X", multiprocessors=110),
        "gfx942": Model(name="AMD Instinct MI300X", multiprocessors=304),
        "gfx950": Model(name="AMD Instinct MI355X", multiprocessors=256),
    },
    usual="sm_90",
    cache="TRITON_CACHE_DIR",
    without_lines={"TRITON_DISABLE_LINE_INFO": "1"},
)
