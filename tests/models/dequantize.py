"""Unpacks a GGUF file into a folder that vLLM serves, in bfloat16: `python -m tests.models.dequantize FILE FOLDER`.

Run with the Python of vLLM's environment, which has torch and transformers.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def dequantize(file: Path, folder: Path) -> None:
    """Writes weights, configuration and tokenizer with its chat template."""
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    dequantize(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
