// Times OpenBLAS from C, so that small sizes are not charged for Python.
//
//   openblas LIBRARY
//
// It writes the library's own description, then reads one command a line and answers
// with one line:
//   threads N                    -> ok
//   gemm s|d M N K COPIES        -> ok; makes A, C and COPIES matrices B
//   gemv s|d M N COPIES          -> ok; makes x, y and COPIES matrices A
//   run REPS                     -> seconds that REPS calls took, one element of the result
// All matrices are row-major and tight. Each call takes the next copy in turn.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef int64_t blasint; // the 64-bit-integer build that numpy bundles
typedef void (*sgemm_t)(int, int, int, blasint, blasint, blasint, float, const float *, blasint, const float *, blasint, float, float *, blasint);
typedef void (*dgemm_t)(int, int, int, blasint, blasint, blasint, double, const double *, blasint, const double *, blasint, double, double *, blasint);
typedef void (*sgemv_t)(int, int, blasint, blasint, float, const float *, blasint, const float *, blasint, float, float *, blasint);
typedef void (*dgemv_t)(int, int, blasint, blasint, double, const double *, blasint, const double *, blasint, double, double *, blasint);

enum { row_major = 101, no_trans = 111 };

static void *lib;

// symbol finds a function under the names that builds of the library give it.
static void *symbol(const char *name) {
	static const char *const forms[] = {"scipy_%s64_", "%s64_", NULL};
	char full[128];
	for (int i = 0; forms[i]; i++) {
		snprintf(full, sizeof full, forms[i], name);
		void *p = dlsym(lib, full);
		if (p)
			return p;
	}
	fprintf(stderr, "openblas: no symbol for %s\n", name);
	exit(1);
}

struct buffer {
	void *p;
	size_t bytes, count;
	int dbl;
};

static void release(struct buffer *b) {
	if (b->p)
		munmap(b->p, b->bytes);
	b->p = NULL;
}

// acquire maps count elements filled with small numbers, in huge pages where
// the system gives them. What is there already stays.
static void acquire(struct buffer *b, int dbl, size_t count) {
	if (b->p && b->count == count && b->dbl == dbl)
		return;
	release(b);
	b->count = count, b->dbl = dbl;
	b->bytes = (count * (dbl ? 8 : 4) + 2097151) & ~(size_t)2097151;
	b->p = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->p == MAP_FAILED) {
		perror("openblas: mmap");
		exit(1);
	}
	madvise(b->p, b->bytes, MADV_HUGEPAGE);
	for (size_t i = 0; i < count; i++) {
		if (dbl)
			((double *)b->p)[i] = (double)(i % 7) - 3;
		else
			((float *)b->p)[i] = (float)(i % 7) - 3;
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: openblas LIBRARY\n");
		return 2;
	}
	lib = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!lib) {
		fprintf(stderr, "openblas: %s\n", dlerror());
		return 1;
	}
	sgemm_t sgemm = (sgemm_t)symbol("cblas_sgemm");
	dgemm_t dgemm = (dgemm_t)symbol("cblas_dgemm");
	sgemv_t sgemv = (sgemv_t)symbol("cblas_sgemv");
	dgemv_t dgemv = (dgemv_t)symbol("cblas_dgemv");
	void (*set_threads)(int) = (void (*)(int))symbol("openblas_set_num_threads");
	char *(*config)(void) = (char *(*)(void))symbol("openblas_get_config");

	static struct buffer big, left, out; // the rotated operand, the other one, the result
	char line[256], type = 's';
	long m = 0, n = 0, k = 0, copies = 0, next = 0, v;
	int vec = 0;
	printf("%s\n", config());
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		int dbl = 0;
		if (sscanf(line, "threads %ld", &v) == 1) {
			set_threads((int)v);
			printf("ok\n");
		} else if (sscanf(line, "gemm %c %ld %ld %ld %ld", &type, &m, &n, &k, &copies) == 5) {
			dbl = type == 'd', vec = 0, next = 0;
			acquire(&big, dbl, (size_t)k * n * copies);
			acquire(&left, dbl, (size_t)m * k);
			acquire(&out, dbl, (size_t)m * n);
			printf("ok\n");
		} else if (sscanf(line, "gemv %c %ld %ld %ld", &type, &m, &n, &copies) == 4) {
			dbl = type == 'd', vec = 1, next = 0, k = n;
			acquire(&big, dbl, (size_t)m * n * copies);
			acquire(&left, dbl, (size_t)n);
			acquire(&out, dbl, (size_t)m);
			printf("ok\n");
		} else if (sscanf(line, "run %ld", &v) == 1 && copies > 0) {
			size_t stride = vec ? (size_t)m * n : (size_t)k * n;
			double start = now();
			for (long r = 0; r < v; r++) {
				size_t at = stride * (size_t)next;
				next = (next + 1) % copies;
				if (type == 's' && !vec)
					sgemm(row_major, no_trans, no_trans, m, n, k, 1, left.p, k, (float *)big.p + at, n, 0, out.p, n);
				else if (!vec)
					dgemm(row_major, no_trans, no_trans, m, n, k, 1, left.p, k, (double *)big.p + at, n, 0, out.p, n);
				else if (type == 's')
					sgemv(row_major, no_trans, m, n, 1, (float *)big.p + at, n, left.p, 1, 0, out.p, 1);
				else
					dgemv(row_major, no_trans, m, n, 1, (double *)big.p + at, n, left.p, 1, 0, out.p, 1);
			}
			double took = now() - start;
			printf("%.9g %g\n", took, type == 's' ? (double)*(float *)out.p : *(double *)out.p);
		} else {
			fprintf(stderr, "openblas: bad command: %s", line);
			return 2;
		}
		fflush(stdout);
	}
	return 0;
}
