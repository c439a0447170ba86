/* Check a DRAT proof backward: only what the refutation needs is checked (Goldberg and Novikov, DATE 2003; Wetzler, Heule and Hunt, SAT 2014).

   Forward, lemmas are added and clauses deleted, with unit propagation only, until a conflict. Then the steps are undone, last one first; a lemma
   that was needed so far is checked against the clauses that were there before it, by unit propagation (RUP), else as RAT on its first literal, and
   the clauses that the check used are needed from then on. Propagation prefers clauses that are needed already ("core first"), so that few are.

   Why a refutation that is verified is one: of the clauses at each moment keep those that are needed in the end. Each needed lemma follows, or is
   RAT, with regard to the kept ones before it: what its check used is kept, and a RAT check looks at every clause that is there, kept or not. Such a
   step leaves a satisfiable set satisfiable, and so does a deletion; the last set has a conflict; so the formula has no model. Lemmas that nothing
   needs are not looked at.

   The clause that made a literal true at the root is never deleted ("unit deletions are ignored", as by drat-trim): else a literal could stay true
   that no clause backs, and a RAT step would count that is none. A deletion removes one copy of a clause.

   The trail of the root shrinks backward, to what it was before a lemma (a boundary: nothing more propagates there). A clause with a false watch
   must then be watched as if the later literals had never been assigned. So, at the root, a false literal stays watched only beside a literal that
   was true earlier, or if it is the last of the clause's literals to have become false. */

#include "check.h"

#include <stdlib.h>
#include <string.h>

/* A clause in `memory`: its size, its pivot, what is known of it, its literals. A clause is named by its place. */
#define SIZE(c) memory.at[c]
#define PIVOT(c) memory.at[(c) + 1]
#define STATE(c) memory.at[(c) + 2]
#define LITERALS(c) (memory.at + (c) + 3)
#define HEADER 3
#define PRESENT 1
#define NEEDED 2
#define NONE 0 /* no clause: the first numbers of `memory` are not used */
#define MANY_VARIABLES (1 << 20)
#define MOST_NUMBERS 0x7fffffffu
#define DELETION 0x80000000u

typedef uint32_t Clause;

static Numbers memory;
static Clause *steps; /* an added clause, or a deleted one | DELETION; NONE: no effect */
static size_t step_count, step_room;
static size_t formula_end; /* in `memory` */
static size_t literal_count; /* of literals: 2 * (largest variable + 1) */

/* ---- Reading: clauses without repeated literals, tautologies left out, deletions matched with the clauses that they delete. ---- */

static Numbers stamps; /* of each literal: the number of the last clause that had it */
static int32_t stamp;

static void know(int32_t literal) {
    while (stamps.size <= (size_t)(literal | 1)) push(&stamps, 0);
}

/* Remove repeated literals. Returns false for a tautology. */
static bool normal(Numbers *clause) {
    if (++stamp == INT32_MAX) end("unknown", "too many steps");
    size_t kept = 0;
    for (size_t k = 0; k < clause->size; k++) {
        int32_t literal = clause->at[k];
        know(literal);
        if (stamps.at[literal ^ 1] == stamp) return false;
        if (stamps.at[literal] == stamp) continue;
        stamps.at[literal] = stamp;
        clause->at[kept++] = literal;
    }
    clause->size = kept;
    return true;
}

static uint32_t hash_of(const int32_t *literals, size_t size) {
    uint32_t sum = 0, product = 1, parity = 0;
    for (size_t k = 0; k < size; k++) {
        uint32_t mixed = (uint32_t)literals[k] * 0x9e3779b1u;
        sum += mixed;
        product *= 2 * (mixed >> 7) + 1;
        parity ^= mixed;
    }
    return (sum * 31 + product) ^ (parity >> 3) ^ (uint32_t)size;
}

typedef struct {
    Clause clause; /* NONE: free */
    uint32_t hash;
} Slot;

#define GONE 1u /* was taken; no clause has this place either */
static Slot *slots;
static size_t slot_mask, slots_used, slots_live;

static void grow_slots(void) {
    size_t old = slots ? slot_mask + 1 : 0, size = 1024;
    while (size < 2 * (slots_live + 1)) size *= 2;
    Slot *before = slots;
    slots = resized(NULL, size, sizeof *slots);
    memset(slots, 0, size * sizeof *slots);
    slot_mask = size - 1;
    slots_used = slots_live;
    for (size_t j = 0; j < old; j++) {
        if (before[j].clause <= GONE) continue;
        size_t i = before[j].hash & slot_mask;
        while (slots[i].clause) i = (i + 1) & slot_mask;
        slots[i] = before[j];
    }
    free(before);
}

static Clause stored(const Numbers *clause) {
    size_t place = memory.size;
    if (place + HEADER + clause->size > MOST_NUMBERS) end("unknown", "the proof has too many literals");
    push(&memory, (int32_t)clause->size);
    push(&memory, clause->size ? clause->at[0] : 0);
    push(&memory, 0);
    for (size_t k = 0; k < clause->size; k++) push(&memory, clause->at[k]);
    if (5 * (slots_used + 1) > 4 * slot_mask) grow_slots();
    uint32_t hash = hash_of(clause->at, clause->size);
    size_t i = hash & slot_mask;
    while (slots[i].clause > GONE) i = (i + 1) & slot_mask;
    slots_used += !slots[i].clause;
    slots_live++;
    slots[i] = (Slot){(Clause)place, hash};
    return (Clause)place;
}

/* A clause of these literals, which are stamped, that is no longer to be found afterwards; NONE if there is none. */
static Clause taken(const Numbers *clause) {
    uint32_t hash = hash_of(clause->at, clause->size);
    for (size_t i = hash & slot_mask; slots[i].clause; i = (i + 1) & slot_mask) {
        Clause c = slots[i].clause;
        if (c == GONE || slots[i].hash != hash || (size_t)SIZE(c) != clause->size) continue;
        int32_t k = 0;
        while (k < SIZE(c) && stamps.at[LITERALS(c)[k]] == stamp) k++;
        if (k < SIZE(c)) continue;
        slots[i].clause = GONE;
        slots_live--;
        return c;
    }
    return NONE;
}

static void add_step(Clause step) {
    if (step_count == step_room) {
        step_room += step_room / 2 + 64;
        steps = resized(steps, step_room, sizeof *steps);
    }
    steps[step_count++] = step;
}

/* Read the proof to its end. Steps behind the first empty clause are read and dropped. Returns whether there is one. */
static bool read_steps(Spelling spelling) {
    Numbers clause = {0};
    bool closed = false;
    for (int kind; (kind = drat_step(spelling, &clause));) {
        if (closed) continue;
        closed = !clause.size;
        if (closed || !normal(&clause)) add_step(NONE); /* so that steps are counted as the proof has them */
        else if (kind == 'a') add_step(stored(&clause));
        else {
            Clause c = taken(&clause);
            add_step(c ? c | DELETION : NONE);
        }
    }
    free(clause.at);
    return closed;
}

/* ---- Propagation. ---- */

typedef struct {
    Clause clause;
    int32_t blocker; /* a literal of the clause: if it is true, nothing is to be done */
} Watch;

typedef struct {
    Watch *at;
    uint32_t size, room;
} Watches;

static Watches *needed_watches, *other_watches; /* by literal, of clauses that are needed and of the others; a clause may be late to move */
static signed char *value;                      /* of each literal: 1 true, -1 false, 0 neither */
static Clause *reason;                          /* of each variable: the clause that made it so; NONE for an assumption */
static uint32_t *position;                      /* of each variable: its place in the trail */
static unsigned char *traced;                   /* of each variable at the root: its reason, and theirs, are marked as needed */
static int32_t *trail;
static uint32_t trail_size, needed_head, other_head;
static uint32_t root_size; /* what is before it in the trail holds without assumptions */
static uint32_t resume, resumed; /* where the list of the literal at other_head is continued; the gap that was compacted so far */

static void watch(Watches *list, Clause clause, int32_t blocker) {
    if (list->size == list->room) {
        list->room += list->room / 2 + 2;
        list->at = resized(list->at, list->room, sizeof *list->at);
    }
    list->at[list->size++] = (Watch){clause, blocker};
}

static void assign(int32_t literal, Clause why) {
    value[literal] = 1;
    value[literal ^ 1] = -1;
    reason[literal >> 1] = why;
    position[literal >> 1] = trail_size;
    trail[trail_size++] = literal;
}

static void undo(uint32_t size) {
    while (trail_size > size) {
        int32_t literal = trail[--trail_size];
        value[literal] = value[literal ^ 1] = 0;
        traced[literal >> 1] = 0;
    }
}

/* How late a literal is false: those that are not come last. */
static uint32_t lateness(int32_t literal) { return value[literal] < 0 ? position[literal >> 1] : UINT32_MAX; }

static void swap(int32_t *literals, int32_t i, int32_t j) {
    int32_t literal = literals[i];
    literals[i] = literals[j];
    literals[j] = literal;
}

/* Watch a clause at a moment when nothing is assumed. Returns whether it is false as a whole; a unit clause is assigned. */
static bool attach(Clause c) {
    int32_t *literals = LITERALS(c), size = SIZE(c), best = 0;
    STATE(c) |= PRESENT;
    for (int32_t k = 0; k < size; k++) { /* first the literal that was true first, else the one that is false last or not at all */
        int32_t a = literals[k], b = literals[best];
        bool earlier = value[a] > 0 && (value[b] <= 0 || position[a >> 1] < position[b >> 1]);
        if (earlier || (value[b] <= 0 && lateness(a) > lateness(b))) best = k;
    }
    swap(literals, 0, best);
    if (size > 1) {
        best = 1;
        for (int32_t k = 2; k < size; k++)
            if (lateness(literals[k]) > lateness(literals[best])) best = k;
        swap(literals, 1, best);
        Watches *lists = STATE(c) & NEEDED ? needed_watches : other_watches;
        watch(&lists[literals[0]], c, literals[1]);
        watch(&lists[literals[1]], c, literals[0]);
    }
    if (value[literals[0]] < 0) return true;
    if (!value[literals[0]] && (size == 1 || value[literals[1]] < 0)) assign(literals[0], c);
    return false;
}

/* Propagate at the root. Returns a clause that is false, or NONE. */
static Clause propagate_root(void) {
    while (other_head < trail_size) {
        int32_t false_literal = trail[other_head++] ^ 1;
        uint32_t when = position[false_literal >> 1], i = 0, j = 0;
        Watches *list = &other_watches[false_literal];
        while (i < list->size) {
            Watch w = list->at[i++];
            if (value[w.blocker] > 0 && position[w.blocker >> 1] < when) {
                list->at[j++] = w;
                continue;
            }
            Clause c = w.clause;
            if (!(STATE(c) & PRESENT)) continue;
            int32_t *literals = LITERALS(c), size = SIZE(c);
            if (literals[0] == false_literal) swap(literals, 0, 1);
            int32_t other = literals[0], best = 1;
            if (value[other] > 0 && position[other >> 1] < when) {
                list->at[j++] = (Watch){c, other};
                continue;
            }
            for (int32_t k = 2; k < size && lateness(literals[best]) < UINT32_MAX; k++)
                if (lateness(literals[k]) > lateness(literals[best])) best = k;
            swap(literals, 1, best);
            if (best == 1) list->at[j++] = (Watch){c, other};
            else watch(&other_watches[literals[1]], c, other);
            if (value[literals[1]] >= 0 || value[other] > 0) continue;
            if (!value[other]) {
                assign(other, c);
                continue;
            }
            while (i < list->size) list->at[j++] = list->at[i++];
            list->size = j;
            return c;
        }
        list->size = j;
    }
    return NONE;
}

/* Look at one watch of a literal that has become false. */
typedef enum { KEEP, MOVED, UNIT, FALSE_CLAUSE } Visit;

static inline Visit visit(Watch *w, int32_t false_literal) {
    Clause c = w->clause;
    if (!(STATE(c) & PRESENT)) return MOVED;
    int32_t *literals = LITERALS(c), size = SIZE(c);
    int32_t other = literals[0] ^ literals[1] ^ false_literal;
    if (other != w->blocker && value[other] > 0) {
        w->blocker = other;
        return KEEP;
    }
    for (int32_t k = 2; k < size; k++) {
        if (value[literals[k]] < 0) continue;
        literals[0] = other;
        literals[1] = literals[k];
        literals[k] = false_literal;
        watch(&(STATE(c) & NEEDED ? needed_watches : other_watches)[literals[1]], c, other);
        return MOVED;
    }
    literals[0] = other;
    literals[1] = false_literal;
    w->blocker = other;
    if (value[other] > 0) return KEEP;
    return value[other] < 0 ? FALSE_CLAUSE : UNIT;
}

/* Propagate over clauses that are needed already. Returns a clause that is false, or NONE. */
static Clause propagate_needed(void) {
    while (needed_head < trail_size) {
        int32_t false_literal = trail[needed_head++] ^ 1;
        Watches *list = &needed_watches[false_literal];
        Watch *from = list->at, *to = from, *stop = from + list->size;
        Clause conflict = NONE;
        while (from < stop && !conflict) {
            Watch w = *from++;
            if (value[w.blocker] > 0) {
                *to++ = w;
                continue;
            }
            Visit seen = visit(&w, false_literal);
            if (seen == MOVED) continue;
            *to++ = w;
            if (seen == UNIT) assign(w.blocker, w.clause);
            if (seen == FALSE_CLAUSE) conflict = w.clause;
        }
        while (from < stop) *to++ = *from++;
        list->size = (uint32_t)(to - list->at);
        if (conflict) return conflict;
    }
    return NONE;
}

/* Propagate to the end, needed clauses first: after each literal that another clause makes true, they have their turn. */
static Clause propagate(void) {
    for (;;) {
        Clause conflict = propagate_needed();
        if (!conflict && other_head == trail_size) return NONE;
        if (conflict && !resume) return conflict;
        int32_t false_literal = trail[other_head] ^ 1;
        Watches *list = &other_watches[false_literal];
        uint32_t i = resume, j = resumed;
        bool unit = false;
        while (i < list->size && !conflict && !unit) {
            Watch w = list->at[i++];
            if (value[w.blocker] > 0) {
                list->at[j++] = w;
                continue;
            }
            Visit seen = visit(&w, false_literal);
            if (seen == MOVED) continue;
            if (STATE(w.clause) & NEEDED) watch(&needed_watches[false_literal], w.clause, w.blocker);
            else list->at[j++] = w;
            if (seen == UNIT) assign(w.blocker, w.clause);
            unit = seen == UNIT;
            if (seen == FALSE_CLAUSE) conflict = w.clause;
        }
        if (unit && i < list->size) { /* continued when the needed clauses have nothing more to say */
            resume = i;
            resumed = j;
            continue;
        }
        while (i < list->size) list->at[j++] = list->at[i++];
        list->size = j;
        resume = resumed = 0;
        other_head++;
        if (conflict) return conflict;
    }
}

/* Begin to propagate behind `size` literals of the trail, all of which have been propagated. */
static void propagate_from(uint32_t size) {
    needed_head = other_head = size;
    resume = resumed = 0;
}

/* ---- What a conflict needs. ---- */

static Numbers pending;       /* variables whose reasons are to be marked */
static uint32_t *mark_time;   /* of each variable: the last search that met it */
static uint32_t mark_now;
static int64_t lemmas_needed, rat_steps;

static void meet(int32_t literal) {
    int32_t variable = literal >> 1;
    if (mark_time[variable] == mark_now || traced[variable]) return;
    mark_time[variable] = mark_now;
    if (position[variable] < root_size) traced[variable] = 1;
    push(&pending, variable);
}

static void need(Clause c) {
    STATE(c) |= NEEDED;
    for (int32_t k = 0; k < SIZE(c); k++) meet(LITERALS(c)[k]);
}

/* Mark the reasons of what was met, and theirs. */
static void mark_reasons(void) {
    while (pending.size) {
        Clause why = reason[pending.at[--pending.size]];
        if (why) need(why);
    }
}

static void begin_search(void) {
    if (++mark_now == 0) { /* the counter has gone round */
        memset(mark_time, 0, literal_count / 2 * sizeof *mark_time);
        mark_now = 1;
    }
}

static void need_conflict(Clause c) {
    begin_search();
    need(c);
    mark_reasons();
}

static void need_literal(int32_t literal) {
    begin_search();
    meet(literal);
    mark_reasons();
}

/* ---- The check of one lemma. ---- */

static Clause *holders; /* clauses by literal, of all that were ever there: holders[holder_starts[l]] to holders[holder_starts[l + 1]] */
static uint32_t *holder_starts;

static void index_holders(void) {
    holder_starts = resized(NULL, literal_count + 2, sizeof *holder_starts);
    memset(holder_starts, 0, (literal_count + 2) * sizeof *holder_starts);
    for (size_t c = HEADER; c < memory.size; c += HEADER + (size_t)SIZE(c))
        for (int32_t k = 0; k < SIZE(c); k++) holder_starts[LITERALS(c)[k] + 2]++;
    for (size_t i = 2; i < literal_count + 2; i++) holder_starts[i] += holder_starts[i - 1];
    holders = resized(NULL, holder_starts[literal_count + 1] + 1, sizeof *holders);
    for (size_t c = HEADER; c < memory.size; c += HEADER + (size_t)SIZE(c))
        for (int32_t k = 0; k < SIZE(c); k++) holders[holder_starts[LITERALS(c)[k] + 1]++] = (Clause)c;
}

/* Whether the resolvents on `pivot` with all clauses that are there lead to conflicts. What follows from the lemma's negation is in the trail. */
static bool is_rat(int32_t pivot) {
    int32_t negated = pivot ^ 1;
    uint32_t before = trail_size;
    if (!holder_starts) index_holders();
    for (uint32_t i = holder_starts[negated]; i < holder_starts[negated + 1]; i++) {
        Clause c = holders[i];
        if (!(STATE(c) & PRESENT)) continue;
        int32_t holds = 0;
        for (int32_t k = 0; k < SIZE(c) && !holds; k++)
            if (LITERALS(c)[k] != negated && value[LITERALS(c)[k]] > 0) holds = LITERALS(c)[k];
        if (holds) {
            need_literal(holds);
            continue;
        }
        for (int32_t k = 0; k < SIZE(c); k++)
            if (!value[LITERALS(c)[k]]) assign(LITERALS(c)[k] ^ 1, NONE);
        propagate_from(before);
        Clause conflict = propagate();
        if (conflict) need_conflict(conflict);
        undo(before);
        if (!conflict) return false;
    }
    rat_steps++;
    return true;
}

static bool follows(Clause lemma) {
    root_size = trail_size;
    for (int32_t k = 0; k < SIZE(lemma); k++)
        if (value[LITERALS(lemma)[k]] > 0) {
            need_literal(LITERALS(lemma)[k]);
            return true;
        }
    for (int32_t k = 0; k < SIZE(lemma); k++)
        if (!value[LITERALS(lemma)[k]]) assign(LITERALS(lemma)[k] ^ 1, NONE);
    propagate_from(root_size);
    Clause conflict = propagate();
    if (conflict) need_conflict(conflict);
    bool result = conflict || is_rat(PIVOT(lemma));
    undo(root_size);
    return result;
}

/* ---- The two passes. ---- */

static void start(Numbers *formula, Numbers *clause) {
    for (int i = 0; i < HEADER; i++) push(&memory, 0);
    grow_slots();
    for (size_t k = 0; k < formula->size; k++) {
        if (formula->at[k]) {
            push(clause, formula->at[k]);
            continue;
        }
        if (normal(clause)) stored(clause);
        clause->size = 0;
    }
    formula_end = memory.size;
}

static void make_room(void) {
    literal_count = stamps.size + 2;
    free(stamps.at);
    free(slots);
    size_t variables = literal_count / 2;
    if (variables > MANY_VARIABLES && variables > 4 * memory.size) end("refused", "variables with so large names are not checked here");
    needed_watches = resized(NULL, literal_count, sizeof *needed_watches);
    other_watches = resized(NULL, literal_count, sizeof *other_watches);
    value = resized(NULL, literal_count, sizeof *value);
    reason = resized(NULL, variables, sizeof *reason);
    position = resized(NULL, variables, sizeof *position);
    traced = resized(NULL, variables, sizeof *traced);
    mark_time = resized(NULL, variables, sizeof *mark_time);
    trail = resized(NULL, variables, sizeof *trail);
    memset(needed_watches, 0, literal_count * sizeof *needed_watches);
    memset(other_watches, 0, literal_count * sizeof *other_watches);
    memset(value, 0, literal_count * sizeof *value);
    memset(reason, 0, variables * sizeof *reason);
    memset(position, 0, variables * sizeof *position);
    memset(traced, 0, variables * sizeof *traced);
    memset(mark_time, 0, variables * sizeof *mark_time);
}

/* Whether a clause made one of its literals true at the root. */
static bool is_reason(Clause c) {
    for (int32_t k = 0; k < SIZE(c); k++)
        if (value[LITERALS(c)[k]] > 0 && reason[LITERALS(c)[k] >> 1] == c) return true;
    return false;
}

/* Carry out steps until propagation meets a clause that is false, which is returned; NONE if it meets none. done: how many were carried out. */
static Clause forward(size_t *done) {
    for (size_t c = HEADER; c < formula_end; c += HEADER + (size_t)SIZE(c))
        if (attach((Clause)c)) return (Clause)c;
    Clause conflict = propagate_root();
    for (*done = 0; !conflict && *done < step_count;) {
        Clause step = steps[*done];
        Clause c = step & ~DELETION;
        ++*done;
        if (!c) continue;
        if (step & DELETION) {
            if (is_reason(c)) steps[*done - 1] = NONE;
            else STATE(c) &= ~PRESENT;
        } else conflict = attach(c) ? c : propagate_root();
    }
    return conflict;
}

/* Forget watches of clauses that are not there, since an undone deletion watches its clause anew. */
static void drop_absent(void) {
    for (size_t literal = 0; literal < literal_count; literal++) {
        Watches *list = &other_watches[literal];
        uint32_t j = 0;
        for (uint32_t i = 0; i < list->size; i++)
            if (STATE(list->at[i].clause) & PRESENT) list->at[j++] = list->at[i];
        list->size = j;
    }
}

static void backward(size_t done, Clause conflict) {
    root_size = trail_size;
    need_conflict(conflict);
    drop_absent();
    while (done > 0) {
        Clause step = steps[--done];
        Clause c = step & ~DELETION;
        if (!c) continue;
        if (step & DELETION) {
            attach(c);
            continue;
        }
        STATE(c) &= ~PRESENT;
        for (int32_t k = 0; k < SIZE(c); k++)
            if (value[LITERALS(c)[k]] > 0 && reason[LITERALS(c)[k] >> 1] == c) undo(position[LITERALS(c)[k] >> 1]);
        if (!(STATE(c) & NEEDED)) continue;
        lemmas_needed++;
        if (!follows(c)) end("refused", "step %zu, which the refutation needs, does not follow from the clauses before it", done + 1);
    }
}

_Noreturn void check_drat(Numbers *formula, Spelling spelling) {
    Numbers clause = {0};
    bool trivial = false;
    for (size_t k = 0; k < formula->size; k++) trivial = trivial || (!formula->at[k] && (!k || !formula->at[k - 1]));
    start(formula, &clause);
    free(formula->at);
    free(clause.at);
    bool closed = read_steps(spelling);
    if (trivial) end("verified", "the formula holds the empty clause");
    if (!closed) end("refused", "the proof never derives the empty clause");
    make_room();
    size_t done = 0;
    Clause conflict = forward(&done);
    if (!conflict) end("refused", "unit propagation ends without a conflict before the empty clause");
    backward(done, conflict);
    if (rat_steps)
        end("verified", "%zu steps, %lld needed, %lld of these by resolution asymmetric tautology", step_count, (long long)lemmas_needed, (long long)rat_steps);
    end("verified", "%zu steps, %lld needed, each by unit propagation", step_count, (long long)lemmas_needed);
}
