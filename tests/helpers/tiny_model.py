"""A random model that is small enough to be created in a test. It loads like any folder from the
hub.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

CHAT = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
SPECIAL = ["<|pad|>", "<|bos|>", "<|end|>", "<|user|>", "<|assistant|>"]
TEXT = [
    "The lamp is to the left of the desk, and the desk is above the rug.",
    "If the jar is on the shelf, is the shelf below the jar? Yes, it is.",
    '{"reasoning": ["A is left of B", "B is above C"], "conclusion": "upper-left"}',
    "Where is Q from W? Conclude with one of: left, right, above, below, overlap.",
]
VOCABULARY = 384
CONTEXT = 2048


def tiny_model(
    folder: Path,
    seed: int = 0,
    template: str | None = CHAT,
    family: str = "llama",
    **settings: Any,
) -> Path:
    """Write a model with 2 layers, width 64 and random weights.

    Args:
        folder: Folder to write to.
        seed: Seed for the weights.
        template: The tokenizer's chat template, or None.
        family: The architecture, as `model_type` names it.
        settings: Additional settings of its configuration.
    """
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(),
        pad_token="<|pad|>",
        bos_token="<|bos|>",
        eos_token="<|end|>",
        chat_template=template,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        family,
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,  # 32 wide, because vLLM supports no narrower heads on a CPU
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,  # with the usual value, all tokens are about equally probable
        **settings,
    )
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer
