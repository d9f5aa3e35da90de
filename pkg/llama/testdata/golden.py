"""Writes the files that the tests of pkg/llama compare with.

    python golden.py MODEL.gguf

MODEL is the lesson's model. The answers come from two independent programs:
tokens and the small models from llama.cpp (through llama-cpp-python), logits,
continuations and the perplexity of MODEL from transformers in float32 on the
dequantised weights. requirements.txt has the versions; rerun after a change,
and look at what `git diff --stat` says: nothing random is unseeded.

It writes tokens.json.gz, logits.json.gz and tiny-*.gguf.gz.
"""

import gzip
import json
import os
import random
import sys
import unicodedata
from importlib.metadata import version

import gguf
import llama_cpp
import numpy as np
import tokenizers
import torch
from transformers import AutoModelForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
ALICE = open(os.path.join(HERE, "alice.txt"), encoding="utf-8").read()
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
ABSENT = set("\x04\x06\x13\x14\x16\x1d")  # bytes that the model's vocabulary lacks

QUESTIONS = [
    "What is the capital of France?",
    "Why is the sky blue?",
    "Write a haiku about the sea.",
    "What is 17 + 25?",
    "Explain what a cache is, in one sentence.",
    "def fibonacci(n):",
    "Translate to French: The cat sleeps.",
    "Name three prime numbers above 100.",
    "Who wrote Alice's Adventures in Wonderland?",
    "¿Qué hora es? 你好, 世界! 🙂",
    "List the planets of the solar system.",
]


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    with open(os.path.join(HERE, name), "wb") as out:
        with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as z:
            z.write(text)


def strings():
    """A few thousand texts of every kind, the same on each run."""
    rng = random.Random(7)
    words = ALICE.split()
    out = ["", " ", "  ", "\n", "\n\n \n", "\t\tx", "a", "é", "\u00a0", "'s", "'S", "''ll'", "don't", "DON'T we'Ve",
           "1", "12", "1234567", " 12 34", "1 a2b", "3.14159", "x = y**2 + 10", "½ ⅷ ٣٤", "\r\n\r\n", " \r\n a", "e\u0301",
           "<|im_start|>user\nhi<|im_end|>", "👩‍👩‍👧‍👦🏳️‍🌈", "نص عربي", "日本語のテキスト", "हिन्दी", "Ωμέγα", "ÅÄÖ ß", "\ufeffbom"]
    out += [line for line in ALICE.split("\n") if line]
    out += [line for line in open(__file__, encoding="utf-8").read().split("\n")]
    classes = {}
    for cp in range(0x20, 0x30000):
        c = chr(cp)
        kind = unicodedata.category(c)
        if kind not in ("Cn", "Cs", "Co"):
            classes.setdefault(kind[0], []).append(c)
    latin = [chr(c) for c in range(0x20, 0x250) if unicodedata.category(chr(c)) != "Cc"]
    spaces = [" ", " ", " ", "\n", "\t", "\r", "\u00a0", "\u2003", "\u3000", "\x85"]
    while len(out) < 3000:
        n = rng.randrange(1, 24)
        style = rng.randrange(6)
        if style == 0:
            text = "".join(rng.choice(classes[rng.choice("LLLNPSMZ")]) for _ in range(n))
        elif style == 1:
            text = "".join(rng.choice(latin) for _ in range(n))
        elif style == 2:
            text = "".join(rng.choice([rng.choice(spaces), rng.choice(words), str(rng.randrange(10**6)), rng.choice("'’.,;!?-_()[]{}")]) for _ in range(n))
        elif style == 3:
            text = " ".join(rng.choice(words) for _ in range(n))
        elif style == 4:
            text = "".join(rng.choice(["'", "s", "t", "re", "VE", "ll", "d", " ", "  ", "\n", "a", "9", "_", "…"]) for _ in range(n))
        else:
            text = "".join(chr(rng.randrange(0x1F300, 0x1FAF0)) if rng.random() < 0.6 else rng.choice("\u200d\ufe0f ab") for _ in range(n))
        if any(unicodedata.category(c) in ("Cn", "Cs", "Co") for c in text) or ABSENT & set(text):
            continue
        if not {0xF1, 0xF2} & set(text.encode()):
            out.append(text)
    return out


def tokens(path, texts):
    model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    got = [[t, model.tokenize(t.encode(), add_bos=False, special=False)] for t in texts]
    return got


def chat(encode, question):
    """The prompt of the model's own template, tokens 1 and 2 being its marks."""
    return ([1] + encode("system\n" + SYSTEM) + [2] + encode("\n") + [1] + encode("user\n" + question) + [2]
            + encode("\n") + [1] + encode("assistant\n"))


def logits(path):
    """What the model says, in float32 on its dequantised weights."""
    torch.manual_seed(0)
    vocab = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    encode = lambda text: vocab.tokenize(text.encode(), add_bos=False, special=False)
    model = AutoModelForCausalLM.from_pretrained(os.path.dirname(path), gguf_file=os.path.basename(path), dtype=torch.float32).eval()
    alice = encode(ALICE)[:2000]
    assert len(alice) == 2000
    prompts = [chat(encode, q) for q in QUESTIONS] + [alice]
    result = {"versions": {p: version(p) for p in ("torch", "transformers", "gguf", "llama-cpp-python")}, "prompts": []}
    with torch.no_grad():
        for prompt in prompts:
            out = model(torch.tensor([prompt]), use_cache=True)
            last = out.logits[0, -1]
            if len(prompt) == 2000:
                logp = torch.log_softmax(out.logits[0, :1023].double(), -1)
                nll = -logp[torch.arange(1023), torch.tensor(prompt[1:1024])].mean()
                result["nll1024"] = float(nll)
            entry = {"tokens": prompt, "every": 64, "logits": [round(float(x), 5) for x in last[::64]],
                     "top": [int(i) for i in last.topk(16).indices], "answer": [], "gaps": []}
            entry["top_logits"] = [round(float(last[i]), 5) for i in entry["top"]]
            past, row = out.past_key_values, last
            for _ in range(64):
                best = row.topk(2)
                entry["answer"].append(int(best.indices[0]))
                entry["gaps"].append(round(float(best.values[0] - best.values[1]), 5))
                out = model(torch.tensor([[entry["answer"][-1]]]), past_key_values=past, use_cache=True)
                past, row = out.past_key_values, out.logits[0, -1]
            result["prompts"].append(entry)
    write("logits.json.gz", result)


def tiny(name, arch, pre, biases, qk_norm, tied, head_dim, kinds):
    """A model of random weights, small enough to keep, and what llama.cpp makes of it."""
    rng = np.random.default_rng(len(name))
    layers, width, heads, kv_heads, ffn = 2, 32, 4, 2, 64
    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    # Not split into words, so that merges cross the bounds that a rule must keep.
    corpus = [ALICE[i:i + 60] for i in range(0, 4000, 60)] + ["x1 22 333\n\n4444  'S 'll\n a", "\n\n  \n", "12 345 678 90"] * 40
    trained.train_from_iterator(corpus, tokenizers.trainers.BpeTrainer(vocab_size=256 + 96, initial_alphabet=alphabet, show_progress=False))
    state = json.loads(trained.to_str())["model"]
    words = sorted(state["vocab"], key=state["vocab"].get) + ["<|endoftext|>", "<|im_end|>"]
    merges = [" ".join(m) if isinstance(m, list) else m for m in state["merges"]]
    path = os.path.join(HERE, f"tiny-{name}.gguf")
    w = gguf.GGUFWriter(path, arch)
    w.add_block_count(layers)
    w.add_context_length(256)
    w.add_embedding_length(width)
    w.add_feed_forward_length(ffn)
    w.add_head_count(heads)
    w.add_head_count_kv(kv_heads)
    w.add_key_length(head_dim)
    w.add_value_length(head_dim)
    w.add_rope_dimension_count(head_dim)
    w.add_rope_freq_base(10000.0)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(len(words))
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre(pre)
    w.add_token_list(words)
    w.add_token_types([1] * (len(words) - 2) + [3, 3])
    w.add_token_merges(merges)
    w.add_eos_token_id(len(words) - 1)
    w.add_bos_token_id(len(words) - 2)
    w.add_add_bos_token(False)

    def matrix(key, *shape):
        x = rng.integers(-24, 25, shape).astype(np.float32) / 64  # exact in every format, and it compresses
        w.add_tensor(key + ".weight", x.astype(np.float16) if "f16" in kinds else x)

    def vector(key, n):
        w.add_tensor(key, rng.integers(32, 96, n).astype(np.float32) / 64)

    matrix("token_embd", len(words), width)
    vector("output_norm.weight", width)
    if not tied:
        matrix("output", len(words), width)
    for i in range(layers):
        b = f"blk.{i}."
        vector(b + "attn_norm.weight", width)
        vector(b + "ffn_norm.weight", width)
        matrix(b + "attn_q", heads * head_dim, width)
        matrix(b + "attn_k", kv_heads * head_dim, width)
        matrix(b + "attn_v", kv_heads * head_dim, width)
        matrix(b + "attn_output", width, heads * head_dim)
        if biases:
            vector(b + "attn_q.bias", heads * head_dim)
            vector(b + "attn_k.bias", kv_heads * head_dim)
            vector(b + "attn_v.bias", kv_heads * head_dim)
        if qk_norm:
            vector(b + "attn_q_norm.weight", head_dim)
            vector(b + "attn_k_norm.weight", head_dim)
        matrix(b + "ffn_gate", ffn, width)
        matrix(b + "ffn_up", ffn, width)
        matrix(b + "ffn_down", width, ffn)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()

    model = llama_cpp.Llama(path, n_ctx=128, logits_all=True, type_k=0, type_v=0, n_threads=1, verbose=False, seed=1)
    prompt = model.tokenize(ALICE[:160].encode(), add_bos=False, special=False)
    model.eval(prompt)
    rows = model.scores[:len(prompt)]
    texts = [t for t in strings() if len(t) < 60][:60] + strings()[-400:]
    got = [[t, model.tokenize(t.encode(), add_bos=False, special=False)] for t in texts]
    blob = open(path, "rb").read()
    os.remove(path)
    with open(path + ".gz", "wb") as out:
        with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as z:
            z.write(blob)
    return {"name": name, "tokens": prompt, "texts": got,
            "logits": [[round(float(x), 5) for x in rows[i]] for i in (0, len(prompt) // 2, len(prompt) - 1)],
            "rows": [0, len(prompt) // 2, len(prompt) - 1]}


if __name__ == "__main__":
    path = os.path.abspath(sys.argv[1])
    write("tokens.json.gz", tokens(path, strings()))
    write("tiny.json.gz", [
        tiny("llama", "llama", "llama-bpe", False, False, False, 8, ""),
        tiny("qwen2", "qwen2", "qwen2", True, False, True, 8, ""),
        tiny("qwen3", "qwen3", "gpt-2", False, True, True, 16, ""),
    ])
    logits(path)
