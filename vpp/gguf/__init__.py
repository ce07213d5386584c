"""A model file (GGUF): its header, a plan for its memory, and the llama.cpp server that answers from it."""
