/* probSAT for 3-SAT, with the polynomial of the break count (Balint and Schoening, SAT 2012): a falsified clause
 * is drawn uniformly, and one of its variables is flipped with a probability proportional to
 * (0.9 + break)^-cb, where break is the number of clauses that the flip falsifies.
 *
 * usage: probsat FILE CB SEED SECONDS
 * FILE has formulas in DIMACS, one after the other, each with its header and clauses of three different variables.
 * For each formula a line is printed: 1 or 0 (solved within SECONDS of processor time), flips, seconds, and the
 * assignment as 0 and 1.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state[2];

static uint64_t draw(void)
{ /* xoroshiro128+ */
    uint64_t a = state[0], b = state[1], sum = a + b;
    b ^= a;
    state[0] = ((a << 24) | (a >> 40)) ^ b ^ (b << 16);
    state[1] = (b << 37) | (b >> 27);
    return sum;
}

static double uniform(void) { return (double)(draw() >> 11) * 0x1p-53; }

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *made(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        exit(3);
    return memory;
}

/* A literal is 2 * variable + sign; `starts` and `of` list the clauses of each literal. `held` is the number of true
 * literals of a clause, `sum` the exclusive or of their variables, which is the variable if there is one. */
static int n, m, *literals, *starts, *of, *held, *sum, *breaks, *broken, *place, count;
static char *value;

static void flip(int variable)
{
    int gains = 2 * variable + (value[variable] ? 1 : 0), loses = gains ^ 1;
    value[variable] ^= 1;
    breaks[variable] = 0;
    for (int at = starts[gains]; at < starts[gains + 1]; at++) {
        int clause = of[at];
        if (held[clause] == 0) {
            int last = broken[--count];
            broken[place[clause]] = last;
            place[last] = place[clause];
            breaks[variable]++;
        } else if (held[clause] == 1)
            breaks[sum[clause]]--;
        held[clause]++;
        sum[clause] ^= variable;
    }
    for (int at = starts[loses]; at < starts[loses + 1]; at++) {
        int clause = of[at];
        held[clause]--;
        sum[clause] ^= variable;
        if (held[clause] == 0) {
            place[clause] = count;
            broken[count++] = clause;
        } else if (held[clause] == 1)
            breaks[sum[clause]]++;
    }
}

static void solve(const double *weight, double limit)
{
    double began = seconds(), spent = 0;
    long long flips = 0;
    count = 0;
    memset(breaks, 0, sizeof(int) * (size_t)n);
    for (int variable = 0; variable < n; variable++)
        value[variable] = (char)(draw() >> 63);
    for (int clause = 0; clause < m; clause++) {
        held[clause] = sum[clause] = 0;
        for (int k = 0; k < 3; k++) {
            int literal = literals[3 * clause + k];
            if (value[literal / 2] != literal % 2) {
                held[clause]++;
                sum[clause] ^= literal / 2;
            }
        }
        if (held[clause] == 0) {
            place[clause] = count;
            broken[count++] = clause;
        } else if (held[clause] == 1)
            breaks[sum[clause]]++;
    }
    while (count) {
        if (flips % 1024 == 0 && seconds() - began > limit)
            break;
        const int *clause = literals + 3 * broken[(int)(uniform() * count)];
        double a = weight[breaks[clause[0] / 2]], b = a + weight[breaks[clause[1] / 2]];
        double all = b + weight[breaks[clause[2] / 2]], at = uniform() * all;
        flip(clause[at < a ? 0 : at < b ? 1 : 2] / 2);
        flips++;
    }
    spent = seconds() - began;
    printf("%d %lld %.9f ", count == 0, flips, spent);
    for (int variable = 0; variable < n; variable++)
        putchar('0' + value[variable]);
    putchar('\n');
}

static int read_formula(FILE *file)
{
    if (fscanf(file, " p cnf %d %d", &n, &m) != 2 || n < 1 || m < 1 || n > 100000000 || m > 100000000)
        return 0;
    literals = made(3 * (size_t)m, sizeof(int));
    starts = made(2 * (size_t)n + 2, sizeof(int));
    of = made(3 * (size_t)m, sizeof(int));
    held = made((size_t)m, sizeof(int));
    sum = made((size_t)m, sizeof(int));
    place = made((size_t)m, sizeof(int));
    broken = made((size_t)m, sizeof(int));
    breaks = made((size_t)n, sizeof(int));
    value = made((size_t)n, 1);
    for (int at = 0, word; at < 3 * m; at++) {
        if (fscanf(file, "%d", &word) != 1 || word == 0 || abs(word) > n)
            exit(2);
        literals[at] = 2 * (abs(word) - 1) + (word < 0);
        starts[literals[at] + 1]++;
        if (at % 3 == 2 && (fscanf(file, "%d", &word) != 1 || word != 0))
            exit(2);
    }
    for (int literal = 0; literal < 2 * n; literal++)
        starts[literal + 1] += starts[literal];
    int *next = made(2 * (size_t)n, sizeof(int));
    memcpy(next, starts, sizeof(int) * 2 * (size_t)n);
    for (int at = 0; at < 3 * m; at++)
        of[next[literals[at]]++] = at / 3;
    free(next);
    return 1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 5 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 2;
    double cb = atof(argv[2]), limit = atof(argv[4]);
    state[0] = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
    state[1] = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 100; k++)
        draw();
    while (read_formula(file)) {
        double *weight = made((size_t)m, sizeof(double));
        for (int k = 0; k <= m; k++)
            weight[k] = pow(0.9 + k, -cb);
        solve(weight, limit);
        free(weight), free(literals), free(starts), free(of), free(held);
        free(sum), free(place), free(broken), free(breaks), free(value);
    }
    return 0;
}
