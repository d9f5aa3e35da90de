// The loops of package probe as a C programmer writes them, timed in the same
// way: what the assembly is held against. It is only for tests.
//
//   peer
//
// It reads one command a line and answers with one line, the seconds of each
// sample:
//   fma f32|f64 avx2|avx512 THREADS ROUNDS TIMES       rounds of 12 vectors
//   memory KERNEL BYTES PARTS FROM THREADS TIMES       sample k: part FROM+k of all arrays
// KERNEL is load, copy, triad (plain loops, as gcc -O3 makes them), copy-memcpy
// (a plain loop that gcc may turn into memcpy), copy-stream or triad-stream
// (intrinsics). BYTES is what all arrays of all threads have together.
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { most_threads = 256, most_times = 1000, chains = 12 };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static char command[64], type[16], isa[16];
static long threads, rounds, times, bytes, parts, from;
static double begin[most_threads][most_times], end[most_threads][most_times];
static char *buffer;
static long buffer_bytes;
static atomic_long here;
static volatile double sink;

// A gate as in the other program: spin, and sleep now and then.
static void meet(int spin) {
	if (threads == 1)
		return;
	long goal = (atomic_fetch_add(&here, 1)) / threads * threads + threads;
	for (long i = 1; atomic_load(&here) < goal; i++)
		if ((!spin && i % 4096 == 0) || i % (1 << 17) == 0)
			usleep(20);
}

#define FMA(name, scalar, vector, set, fma, width)                                  \
	__attribute__((target("avx512f,fma"), noinline)) static void name(long n) { \
		vector s[chains], x = set(0.7390851), y = set(0.1415926);           \
		for (int i = 0; i < chains; i++)                                    \
			s[i] = set(0.5 + i / 64.0);                                 \
		for (long r = 0; r < n; r++)                                        \
			for (int i = 0; i < chains; i++)                            \
				s[i] = fma(s[i], x, y);                             \
		for (int i = 1; i < chains; i++)                                    \
			s[0] += s[i];                                               \
		scalar out[width];                                                  \
		memcpy(out, &s[0], sizeof out);                                     \
		sink += out[0];                                                     \
	}

FMA(fma_f32_avx512, float, __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)
FMA(fma_f64_avx512, double, __m512d, _mm512_set1_pd, _mm512_fmadd_pd, 8)
FMA(fma_f32_avx2, float, __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)
FMA(fma_f64_avx2, double, __m256d, _mm256_set1_pd, _mm256_fmadd_pd, 4)

__attribute__((noinline, optimize("no-tree-loop-distribute-patterns"))) static void
copy_plain(double *restrict a, const double *restrict b, long n) {
	for (long i = 0; i < n; i++)
		a[i] = b[i];
}

__attribute__((noinline)) static void copy_memcpy(double *restrict a, const double *restrict b, long n) {
	for (long i = 0; i < n; i++)
		a[i] = b[i];
}

__attribute__((noinline)) static void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, long n) {
	for (long i = 0; i < n; i++)
		a[i] = b[i] + s * c[i];
}

__attribute__((noinline, optimize("fast-math"))) static double load(const double *a, long n) {
	double s = 0;
	for (long i = 0; i < n; i++)
		s += a[i];
	return s;
}

__attribute__((target("avx2,fma"), noinline)) static void copy_stream(double *a, const double *b, long n) {
	for (long i = 0; i < n; i += 4)
		_mm256_stream_pd(a + i, _mm256_load_pd(b + i));
	_mm_sfence();
}

__attribute__((target("avx2,fma"), noinline)) static void triad_stream(double *a, const double *b, const double *c, double s, long n) {
	__m256d f = _mm256_set1_pd(s);
	for (long i = 0; i < n; i += 4)
		_mm256_stream_pd(a + i, _mm256_fmadd_pd(f, _mm256_load_pd(c + i), _mm256_load_pd(b + i)));
	_mm_sfence();
}

static int arrays(void) {
	return !strcmp(type, "load") ? 1 : !strncmp(type, "copy", 4) ? 2 : 3;
}

static void work(long i, long k) {
	if (!strcmp(command, "fma")) {
		int wide = !strcmp(isa, "avx512"), dbl = !strcmp(type, "f64");
		(wide ? dbl ? fma_f64_avx512 : fma_f32_avx512 : dbl ? fma_f64_avx2 : fma_f32_avx2)(rounds);
		return;
	}
	long each = bytes / threads / arrays() / 512 * 512, n = each / parts / 512 * 512, at = (from + k) % parts * n;
	double *x[3];
	for (int j = 0; j < arrays(); j++)
		x[j] = (double *)(buffer + (i * arrays() + j) * each + at);
	n /= 8;
	if (!strcmp(type, "load"))
		sink += load(x[0], n);
	else if (!strcmp(type, "copy"))
		copy_plain(x[0], x[1], n);
	else if (!strcmp(type, "copy-memcpy"))
		copy_memcpy(x[0], x[1], n);
	else if (!strcmp(type, "copy-stream"))
		copy_stream(x[0], x[1], n);
	else if (!strcmp(type, "triad"))
		triad(x[0], x[1], x[2], 0.5, n);
	else
		triad_stream(x[0], x[1], x[2], 0.5, n);
}

static void *thread(void *arg) {
	long i = (long)arg;
	cpu_set_t may, one;
	if (threads > 1 && !sched_getaffinity(0, sizeof may, &may) && CPU_COUNT(&may) == threads) {
		long left = i;
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &may) && left-- == 0) {
				CPU_ZERO(&one);
				CPU_SET(cpu, &one);
				sched_setaffinity(0, sizeof one, &one);
			}
	}
	for (long k = 0; k < times; k++) {
		meet(0);
		meet(1);
		begin[i][k] = now();
		work(i, k);
		end[i][k] = now();
	}
	return NULL;
}

int main(void) {
	char line[256];
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%63s", command) != 1)
			break;
		if (!strcmp(command, "fma")) {
			if (sscanf(line, "%*s %15s %15s %ld %ld %ld", type, isa, &threads, &rounds, &times) != 5)
				return 2;
		} else {
			if (sscanf(line, "%*s %15s %ld %ld %ld %ld %ld", type, &bytes, &parts, &from, &threads, &times) != 6)
				return 2;
			if (buffer_bytes < bytes) {
				if (buffer)
					munmap(buffer, buffer_bytes);
				buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				if (buffer == MAP_FAILED)
					return 1;
				madvise(buffer, bytes, MADV_HUGEPAGE);
				buffer_bytes = bytes;
				for (long i = 0; i < bytes / 8; i++)
					((double *)buffer)[i] = 1 + (i % 512) / 512.0;
			}
		}
		if (threads < 1 || threads > most_threads || times < 1 || times > most_times)
			return 2;
		pthread_t all[most_threads];
		atomic_store(&here, 0);
		for (long i = 0; i < threads; i++)
			pthread_create(&all[i], NULL, thread, (void *)i);
		for (long i = 0; i < threads; i++)
			pthread_join(all[i], NULL);
		for (long k = 0; k < times; k++) {
			double first = begin[0][k], last = end[0][k];
			for (long i = 1; i < threads; i++) {
				first = begin[i][k] < first ? begin[i][k] : first;
				last = end[i][k] > last ? end[i][k] : last;
			}
			printf("%.9g ", last - first);
		}
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
