/* Check an LRAT proof along its hints, step by step as it is read. The rules are those of ../hints.py.

   Clauses are found by identifier in an open table whose hash is the identifier itself: identifiers grow, so that neighbours are close. */

#include "check.h"

#include <stdlib.h>
#include <string.h>

#define DELETED (-1)
#define WORTH_COMPACTING (1 << 18)

typedef struct {
    int64_t name; /* 0: free */
    size_t place; /* of the clause in `memory`: its size, then its literals */
} Entry;

static Entry *table;
static size_t mask, used, live; /* used: entries that are not free; live: entries of clauses */
static Numbers memory;
static size_t garbage; /* numbers in `memory` that belong to deleted clauses */

static unsigned char *truth; /* of each literal: 1 if it is true */
static size_t truths;
static Numbers trail; /* the literals that are true */

static Entry *found(int64_t name) {
    for (size_t i = (size_t)name & mask;; i = (i + 1) & mask) {
        if (table[i].name == name) return &table[i];
        if (!table[i].name) return NULL;
    }
}

/* Make room in the table, and forget its deleted entries. */
static void rebuild(void) {
    size_t old = table ? mask + 1 : 0, size = 1024;
    while (size < 4 * (live + 1)) size *= 2;
    Entry *before = table;
    table = resized(NULL, size, sizeof *table);
    memset(table, 0, size * sizeof *table);
    mask = size - 1;
    used = live;
    for (size_t j = 0; j < old; j++) {
        if (before[j].name <= 0) continue;
        size_t i = (size_t)before[j].name & mask;
        while (table[i].name) i = (i + 1) & mask;
        table[i] = before[j];
    }
    free(before);
}

/* Give back the memory of deleted clauses. */
static void compact(void) {
    Numbers fresh = {0};
    fresh.room = memory.size - garbage + 64;
    fresh.at = resized(NULL, fresh.room, sizeof *fresh.at);
    for (size_t i = 0; i <= mask; i++) {
        if (table[i].name <= 0) continue;
        size_t length = (size_t)memory.at[table[i].place] + 1;
        memcpy(fresh.at + fresh.size, memory.at + table[i].place, length * sizeof *fresh.at);
        table[i].place = fresh.size;
        fresh.size += length;
    }
    free(memory.at);
    memory = fresh;
    garbage = 0;
}

static void know(int32_t literal) {
    size_t wanted = ((size_t)literal | 1) + 1;
    if (wanted <= truths) return;
    wanted += wanted / 2;
    truth = resized(truth, wanted, 1);
    memset(truth + truths, 0, wanted - truths);
    truths = wanted;
}

static void add(int64_t name, const int32_t *literals, size_t size) {
    if (2 * (used + 1) > mask) rebuild();
    size_t i = (size_t)name & mask;
    while (table[i].name > 0) i = (i + 1) & mask;
    used += !table[i].name;
    live++;
    table[i] = (Entry){name, memory.size};
    push(&memory, (int32_t)size);
    for (size_t k = 0; k < size; k++) {
        know(literals[k]);
        push(&memory, literals[k]);
    }
}

/* Delete a clause. One that is not there changes nothing, as for other checkers. */
static void delete(int64_t name) {
    Entry *entry = found(name);
    if (!entry) return;
    garbage += (size_t)memory.at[entry->place] + 1;
    entry->name = DELETED;
    live--;
    if (garbage > WORTH_COMPACTING && garbage > memory.size / 2) compact();
}

static void assume(int32_t literal) {
    if (truth[literal]) return;
    truth[literal] = 1;
    push(&trail, literal);
}

static void forget(size_t size) {
    while (trail.size > size) truth[trail.at[--trail.size]] = 0;
}

static int64_t number; /* of the step, from 1 */
static int64_t step_name;

static _Noreturn void refused(const char *reason) {
    end("refused", "step %lld (clause %lld): %s", (long long)number, (long long)step_name, reason);
}

/* Make true what the hints make unit. Returns whether they end in a conflict. */
static bool conflict(const int64_t *hints, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Entry *entry = hints[i] > 0 ? found(hints[i]) : NULL;
        if (!entry) refused("a hint names no clause that is there");
        const int32_t *clause = memory.at + entry->place;
        int32_t unit = -1;
        for (int32_t k = 1; k <= clause[0]; k++) {
            int32_t literal = clause[k];
            if (truth[literal ^ 1] || literal == unit) continue;
            if (unit >= 0) refused("a clause of its hints is neither unit nor false");
            unit = literal;
        }
        if (unit < 0) return true;
        assume(unit);
    }
    return false;
}

/* The resolvent of the step with a clause on `negated` must lead to a conflict, or be a tautology. */
static void accept_resolvent(const Entry *entry, int32_t negated, const LratStep *step) {
    const int32_t *clause = memory.at + entry->place;
    bool concerned = false;
    for (int32_t k = 1; k <= clause[0]; k++) concerned = concerned || clause[k] == negated;
    if (!concerned) return;
    size_t before = trail.size;
    bool holds = false;
    for (int32_t k = 1; k <= clause[0] && !holds; k++) {
        if (clause[k] == negated) continue;
        holds = truth[clause[k]];
        if (!holds) assume(clause[k] ^ 1);
    }
    if (!holds) {
        size_t start = step->hint_count;
        while (start > 0 && step->hints[start - 1] != -entry->name) start--;
        if (!start) refused("its hints do not end in a conflict, and have nothing of a clause that holds the negated pivot");
        size_t stop = start;
        while (stop < step->hint_count && step->hints[stop] > 0) stop++;
        if (!conflict(step->hints + start, stop - start)) refused("the hints of a resolvent do not end in a conflict");
    }
    forget(before);
}

static void accept_step(const LratStep *step) {
    for (size_t k = 0; k < step->literals.size; k++) {
        know(step->literals.at[k]);
        if (truth[step->literals.at[k]]) { /* a tautology holds by itself */
            forget(0);
            return;
        }
        assume(step->literals.at[k] ^ 1);
    }
    size_t first = 0;
    while (first < step->hint_count && step->hints[first] > 0) first++;
    if (!conflict(step->hints, first)) {
        if (!step->literals.size) refused("its hints do not end in a conflict");
        for (size_t i = 0; i <= mask; i++)
            if (table[i].name > 0) accept_resolvent(&table[i], step->literals.at[0] ^ 1, step);
    }
    forget(0);
}

_Noreturn void check_lrat(Numbers *formula, Spelling spelling) {
    bool trivial = false;
    int64_t last = 0, refuted_at = 0;
    rebuild();
    for (size_t start = 0, stop = 0; stop < formula->size; start = ++stop) {
        while (formula->at[stop]) stop++;
        trivial = trivial || start == stop;
        add(++last, formula->at + start, stop - start);
    }
    free(formula->at);
    LratStep step = {0};
    while (lrat_step(spelling, &step)) {
        number++;
        if (step.name && step.name <= last) end("unread", "identifiers of added clauses that do not grow");
        last = step.name ? step.name : last;
        if (refuted_at || trivial) continue;
        if (!step.name) {
            for (size_t i = 0; i < step.hint_count; i++) delete(step.hints[i]);
            continue;
        }
        step_name = step.name;
        accept_step(&step);
        if (!step.literals.size) refuted_at = number;
        else add(step.name, step.literals.at, step.literals.size);
    }
    if (trivial) end("verified", "the formula holds the empty clause");
    if (!refuted_at) end("refused", "the proof never derives the empty clause");
    end("verified", "%lld steps, each by its hints", (long long)refuted_at);
}
