/* Product of two square matrices, read from and summed up to standard output. What stands between the two marks evolves. */
#include <stdio.h>
#include <stdlib.h>

static double a[1024 * 1024], b[1024 * 1024], c[1024 * 1024];

/* EVOLVE-BLOCK-START */
#define BLOCK 4   /* EVOLVE-PARAM 4 512 int log */
#define COLUMNS 4 /* EVOLVE-PARAM 4 1024 int log */
#define ORDER 0   /* EVOLVE-PARAM 0 2 int */
#define UNROLL 1  /* EVOLVE-PARAM 1 8 int */
/* EVOLVE-BLOCK-END */

#define LEAST(x, y) ((x) < (y) ? (x) : (y))

static void multiply(int n) {
    for (int i0 = 0; i0 < n; i0 += BLOCK)
        for (int j0 = 0; j0 < n; j0 += COLUMNS)
            for (int k0 = 0; k0 < n; k0 += BLOCK) {
                int i1 = LEAST(i0 + BLOCK, n), j1 = LEAST(j0 + COLUMNS, n), k1 = LEAST(k0 + BLOCK, n);
                if (ORDER == 0) {
                    for (int i = i0; i < i1; i++)
                        for (int j = j0; j < j1; j++)
                            for (int k = k0; k < k1; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
                } else if (ORDER == 1) {
                    for (int i = i0; i < i1; i++)
                        for (int k = k0; k < k1; k++) {
                            double held = a[i * n + k];
                            int j = j0;
                            for (; j + UNROLL <= j1; j += UNROLL)
                                for (int u = 0; u < UNROLL; u++) c[i * n + j + u] += held * b[k * n + j + u];
                            for (; j < j1; j++) c[i * n + j] += held * b[k * n + j];
                        }
                } else {
                    for (int k = k0; k < k1; k++)
                        for (int j = j0; j < j1; j++) {
                            double held = b[k * n + j];
                            for (int i = i0; i < i1; i++) c[i * n + j] += a[i * n + k] * held;
                        }
                }
            }
}

int main(void) {
    int n;
    unsigned long state;
    if (scanf("%d %lu", &n, &state) != 2 || n < 1 || n > 1024) return 1;
    for (int i = 0; i < n * n; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        a[i] = (double)(state >> 60);
        b[i] = (double)((state >> 50) & 7);
    }
    multiply(n);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += c[i * n + j] * (1 + j % 7);
        printf("%.0f\n", sum);
    }
    return 0;
}
