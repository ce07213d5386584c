"""Makes a language model that knows nothing: a random Llama of two layers, a tokenizer trained on the spot, a template.

Run in a server's environment, which has transformers: `python tiny_model.py FOLDER TEXT_FILE…`. The texts train the
tokenizer alone, so that prompts take about as many tokens as they would take of a real model. Answers are noise of some
twenty tokens.
"""

import sys
from pathlib import Path
from typing import Any

VOCABULARY = 2000
CONTEXT = 8192
"""Tokens that the architecture allows; a server may allow fewer."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKS = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]


def make(folder: Path, texts: list[str]) -> None:
    """Writes the model and its tokenizer, as `transformers` keeps them."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=MARKS, initial_alphabet=alphabet)
    bare.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token=MARKS[0], pad_token=MARKS[1])
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.model_max_length = CONTEXT

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    _make_brief(model, config.eos_token_id)
    model.generation_config = GenerationConfig(eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _make_brief(model: Any, end: int) -> None:
    """Weights with which an answer ends after some ten tokens, drawn greedily or not.

    The first hidden unit is a constant that the end's logit alone reads, far above the others' mean.
    """
    import torch

    with torch.no_grad():
        model.model.embed_tokens.weight.normal_(0, 0.3)
        model.model.embed_tokens.weight[:, 0] = 1.0
        for layer in model.model.layers:
            attention, mlp = layer.self_attn, layer.mlp
            for reader in (attention.q_proj, attention.k_proj, attention.v_proj, mlp.gate_proj, mlp.up_proj):
                reader.weight[:, 0] = 0.0
        model.lm_head.weight.normal_(0, 0.19)
        model.lm_head.weight[:, 0] = 0.0
        model.lm_head.weight[end] = 0.0
        model.lm_head.weight[end, 0] = 2.4


if __name__ == "__main__":
    make(Path(sys.argv[1]), [Path(name).read_text(encoding="utf-8") for name in sys.argv[2:]])
