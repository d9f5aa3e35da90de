"""Times llama.cpp for scripts/compare: commands come in, numbers go out.

    python llamacpp.py MODEL THREADS BUILD

BUILD is how llama.cpp comes to Python: llama-cpp-python, which is called function
by function, or xllamacpp, whose server is asked in this process and tells its own
times. The first line out is the version. Then each line in gets one number:

    prefill N    the seconds to read a prompt of N tokens
    decode B N   the seconds in which B sequences, behind 224 tokens each, write N each
    load         the seconds that loading the model took

or "?" where a build has no such thing. No part of the lesson installs either.
"""

import json
import sys
import time

BEHIND = 224
SEQUENCES = 16
ROOM = 512  # tokens of each sequence


def token(i):
    return 1000 + i * 7 % 40000


class LlamaCppPython:
    """One llama_decode for each step, with logits for the last token of each sequence."""

    def __init__(self, path, threads):
        import llama_cpp as lib

        self.lib, self.threads = lib, threads
        self.version = f"llama-cpp-python {lib.__version__}, {lib.llama_print_system_info().decode()}"
        self.quiet = lib.llama_log_callback(lambda *_: None)
        lib.llama_log_set(self.quiet, None)
        lib.llama_backend_init()
        start = time.perf_counter()
        self.model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
        self.load = time.perf_counter() - start
        self.batch = lib.llama_batch_init(ROOM, 0, 1)
        self.sequences, self.context = 0, None
        self.open(1)

    def open(self, sequences):
        """Makes a context for so many sequences, and forgets what was read."""
        lib = self.lib
        if sequences != self.sequences:
            if self.context:
                lib.llama_free(self.context)
            p = lib.llama_context_default_params()
            p.n_ctx, p.n_batch, p.n_ubatch = sequences * max(ROOM, 1024 // sequences), ROOM, ROOM
            p.n_seq_max = sequences
            p.n_threads = p.n_threads_batch = self.threads
            self.context, self.sequences = lib.llama_init_from_model(self.model, p), sequences
        lib.llama_memory_clear(lib.llama_get_memory(self.context), True)

    def step(self, entries):
        """Takes (token, position, sequence, wants logits) through the model."""
        b = self.batch
        b.n_tokens = len(entries)
        for i, (b.token[i], b.pos[i], b.seq_id[i][0], b.logits[i]) in enumerate(entries):
            b.n_seq_id[i] = 1
        start = time.perf_counter()
        if self.lib.llama_decode(self.context, b) != 0:
            raise RuntimeError("llama_decode failed")
        self.lib.llama_synchronize(self.context)
        return time.perf_counter() - start

    def read(self, n, sequence):
        return self.step([(token(i), i, sequence, i == n - 1) for i in range(n)])

    def prefill(self, n):
        self.open(1)
        return self.read(n, 0)

    def decode(self, sequences, n):
        self.open(sequences)
        for s in range(sequences):
            self.read(BEHIND, s)
        return sum(self.step([(token(i), BEHIND + i, s, True) for s in range(sequences)]) for i in range(n))


class XLlamaCpp:
    """The server's own times; one sequence."""

    def __init__(self, path, threads):
        import xllamacpp as lib

        self.version = f"xllamacpp {lib.__version__}, {lib.get_system_info()}"
        p = lib.CommonParams()
        p.model.path = path
        p.n_ctx, p.n_batch, p.n_ubatch, p.n_parallel = 1024, ROOM, ROOM, 1
        p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
        p.verbosity, p.warmup, p.no_perf = -1, False, False
        start = time.perf_counter()
        self.server = lib.Server(p)
        self.load = time.perf_counter() - start

    def ask(self, prompt, n):
        answer = self.server.handle_completions({
            "prompt": [token(i) for i in range(prompt)], "n_predict": n, "cache_prompt": False,
            "ignore_eos": True, "temperature": 0, "top_k": 1,
        })
        if isinstance(answer, (str, bytes)):
            answer = json.loads(answer)
        return answer["timings"]

    def prefill(self, n):
        return self.ask(n, 1)["prompt_ms"] / 1e3

    def decode(self, sequences, n):
        if sequences != 1:
            return None
        t = self.ask(BEHIND, n + 1)  # the first comes out of the prompt
        return t["predicted_ms"] / 1e3 * n / t["predicted_n"]


def main():
    path, threads, build = sys.argv[1:]
    peer = {"llama-cpp-python": LlamaCppPython, "xllamacpp": XLlamaCpp}[build](path, int(threads))
    print(peer.version, flush=True)
    for line in sys.stdin:
        what, *counts = line.split()
        out = peer.load if what == "load" else getattr(peer, what)(*map(int, counts))
        print("?" if out is None else out, flush=True)


if __name__ == "__main__":
    main()
