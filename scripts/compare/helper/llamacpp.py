"""Times llama.cpp for scripts/compare: commands come in, seconds go out.

    python llamacpp.py MODEL THREADS

Each line "prefill N" reads a prompt of N tokens, "decode N" writes N tokens
behind 128; the answer is the seconds that it took. The first line out is the
version. It needs llama-cpp-python, which no part of the lesson installs.
"""

import sys
import time

import llama_cpp

path, threads = sys.argv[1], int(sys.argv[2])
model = llama_cpp.Llama(path, n_ctx=1024, n_batch=512, n_ubatch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
print("llama-cpp-python", llama_cpp.__version__, flush=True)
for line in sys.stdin:
    what, count = line.split()
    count = int(count)
    model.reset()
    if what == "prefill":
        prompt = [i * 7 % 49152 for i in range(count)]
        start = time.perf_counter()
        model.eval(prompt)
    else:
        model.eval([i * 7 % 49152 for i in range(128)])
        start = time.perf_counter()
        for _ in range(count):
            model.eval([5])
    print(time.perf_counter() - start, flush=True)
