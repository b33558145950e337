"""A tiny language model with random weights, as a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

TEXT = [
    'Return an object with this shape: {"reasoning":["a step", "..."], "conclusion":"the answer"}.',
    "The lamp is above the desk. The desk is left of the chair. So the lamp is upper left of it.",
    "Where is the cup from the plate? Choose: left, right, above, below, overlap.",
    "Question: Is the box inside the crate? Scene: the crate holds the box and a ball.",
    "<|user|> <|assistant|> step by step, then Answer: yes or no; café, naïve, déjà vu.",
]

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def tiny_model(folder: Path, vocabulary: int = 400, seed: int = 0) -> Path:
    """Writes a Llama of 2 layers, width 64 and 2 heads, with a byte-level BPE tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|end|>"
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        pad_token_id=fast.pad_token_id,
        bos_token_id=None,
        eos_token_id=fast.eos_token_id,
        # Random weights of the usual size say nearly the same of every token.
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
