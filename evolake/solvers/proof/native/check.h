/* What the parts of the checker share: endings, memory, and the reader of both files. See main.c. */

#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Print one line, "VERDICT REASON", and end. The verdicts are "verified", and three that decide nothing:
   "refused" (read, and not accepted here), "unread" (not in the declared format) and "unknown" (a limit). */
_Noreturn void end(const char *verdict, const char *reason, ...) __attribute__((format(printf, 2, 3)));

void *resized(void *old, size_t count, size_t size); /* ends with "unknown" if there is no memory */

/* A growing array of 32-bit numbers. */
typedef struct {
    int32_t *at;
    size_t size, room;
} Numbers;

void push(Numbers *numbers, int32_t number);

/* Variables beyond this one are not checked here: arrays are indexed by literals. */
#define LARGEST_VARIABLE (1 << 26)
#define LARGEST_NAME 0x7fffffffLL

/* Literals are 2 * variable + sign from here on. */
static inline int32_t literal_of(int64_t number) { return number > 0 ? (int32_t)(2 * number) : (int32_t)(-2 * number + 1); }

void open_file(const char *path);
int byte(void);  /* the next byte; -1 at the end of the file */
void back(void); /* give the last byte back; not after the end of the file */

/* Read a DIMACS file. Literals of all clauses, each clause ended by 0. */
void read_formula(const char *path, Numbers *into);

typedef enum { DRAT_TEXT, DRAT_BINARY, LRAT_TEXT, LRAT_BINARY } Spelling;

/* Read the next step of a DRAT proof. Returns 'a' or 'd' with the step's literals in `literals`, or 0 at the end. */
int drat_step(Spelling spelling, Numbers *literals);

/* A step of an LRAT proof. name: its identifier, 0 for a deletion, whose identifiers are the hints. */
typedef struct {
    int64_t name;
    Numbers literals;
    int64_t *hints;
    size_t hint_count, hint_room;
} LratStep;

bool lrat_step(Spelling spelling, LratStep *step); /* false at the end */

_Noreturn void check_drat(Numbers *formula, Spelling spelling);
_Noreturn void check_lrat(Numbers *formula, Spelling spelling);

#endif
