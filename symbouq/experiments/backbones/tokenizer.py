"""The tokenizer of a backbone: byte-level BPE in which capitals and digits stand alone."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

BEGIN, END, USER, ASSISTANT, PADDING = "<s>", "</s>", "<user>", "<assistant>", "<pad>"
_SPECIAL = [BEGIN, END, USER, ASSISTANT, PADDING]

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role == 'user' %}<user>{{ message.content }}"
    "{% elif message.role == 'assistant' %}<assistant>{{ message.content }}{{ eos_token }}"
    "{% else %}{{ raise_exception('only user and assistant messages') }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)

# A name such as `A` must be the same token wherever it stands, so capitals never join others.
_PIECES = r"[A-Z]|[0-9]| ?[a-z]+|\s|[^\sA-Za-z0-9]+"


def train_tokenizer(
    texts: Iterable[str], size: int, instructions: Iterable[str] = ()
) -> PreTrainedTokenizerFast:
    """Trains a tokenizer on a kind of text.

    Args:
        texts: Examples of it.
        size: Number of tokens, special ones and all bytes included, instructions not.
        instructions: Texts that never vary, each a token of its own: a small model has
            nothing to learn from their words, and prompts become a third as long.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=_SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in instructions])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PADDING,
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        padding_side="left",
        model_max_length=1024,
    )
