"""Small models of Hugging Face's transformers with ``torch.compile``, each with its loss, for
training.

Their weights are random. What Inductor generates depends on the layers, and little on their sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

_TEXT = {
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
}


def _text(model: str, config: str, **sizes: Any) -> Callable[[], Any]:
    """A model of tokens."""

    def call() -> Any:
        compiled_model = _model(model, config, **{**_TEXT, **sizes})
        return compiled_model(input_ids=torch.randint(0, 128, (4, 64), device="cuda"))[0]

    return call


def _image(model: str, config: str, size: int = 64, **sizes: Any) -> Callable[[], Any]:
    """A model of images of ``size`` by ``size`` pixels."""

    def call() -> Any:
        compiled_model = _model(model, config, **sizes)
        return compiled_model(pixel_values=torch.randn(4, 3, size, size, device="cuda"))[0]

    return call


def _model(model: str, config: str, **sizes: Any) -> Any:
    module = getattr(transformers, model)(getattr(transformers, config)(**sizes))
    return torch.compile(module.cuda().train())


OPERATORS = {
    "BERT": _text("BertModel", "BertConfig"),
    "GPT-2": _text("GPT2Model", "GPT2Config", n_embd=64, n_layer=1, n_head=4),
    "Llama": _text("LlamaModel", "LlamaConfig"),
    "Gemma 2": _text("Gemma2Model", "Gemma2Config", head_dim=16, num_key_value_heads=2),
    "Mamba": _text("MambaModel", "MambaConfig"),
    "ViT": _image("ViTModel", "ViTConfig", 224, **_TEXT),
    "ConvNeXt": _image(
        "ConvNextModel", "ConvNextConfig", num_stages=2, depths=[1, 1], hidden_sizes=[32, 64]
    ),
    "ResNet": _image("ResNetModel", "ResNetConfig", depths=[1, 1], hidden_sizes=[64, 128]),
}
