/* Read formulas and proofs to their last byte, and strictly: what is not plainly of the declared format is "unread". */

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static unsigned char buffer[1 << 16];
static size_t at, filled;
static int file = -1;
static bool ended;

void open_file(const char *path) {
    if (file >= 0) close(file);
    file = open(path, O_RDONLY);
    at = filled = 0;
    ended = false;
    if (file < 0) end("unread", "a file cannot be opened");
}

static int more(void) {
    ssize_t got = 0;
    if (!ended) do got = read(file, buffer, sizeof buffer); while (got < 0 && errno == EINTR);
    if (got < 0) end("unread", "a file cannot be read");
    at = 0;
    filled = (size_t)got;
    ended = got == 0;
    return ended ? -1 : buffer[at++];
}

int byte(void) { return at < filled ? buffer[at++] : more(); }

void back(void) { at--; } /* a byte was taken since the last filling, so that at > 0 */

static _Noreturn void unread(const char *reason) { end("unread", "%s", reason); }

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_blank(int c) { return c == ' ' || c == '\t'; }
static bool is_space(int c) { return is_blank(c) || c == '\n' || c == '\r'; }

static void skip_line(void) {
    int c;
    do c = byte(); while (c >= 0 && c != '\n');
}

/* The number that begins with `c`, of at most `digits` digits; the byte behind it, which must be a space, is in `after`. */
static int64_t number(int c, int digits, int *after) {
    bool negative = c == '-';
    if (negative) c = byte();
    if (!is_digit(c) || (negative && c == '0')) unread("something that is no number");
    bool zero = c == '0';
    int64_t value = 0;
    for (int length = 0; is_digit(c); c = byte()) {
        if (++length > digits || (zero && length > 1)) unread("a number that is too long");
        value = 10 * value + (c - '0');
    }
    if (c >= 0 && !is_space(c)) unread("a number with something behind it");
    *after = c;
    return negative ? -value : value;
}

static int32_t checked_literal(int64_t value) {
    int64_t variable = value < 0 ? -value : value;
    if (variable > LARGEST_NAME) unread("a literal beyond 32 bits");
    if (variable > LARGEST_VARIABLE) end("refused", "a variable with so large a name is not checked here");
    return literal_of(value);
}

void read_formula(const char *path, Numbers *into) {
    open_file(path);
    int64_t variables = -1, declared = -1, clauses = 0;
    bool open = false, fresh = true; /* within a clause; at the beginning of a line */
    for (int c = byte(); c >= 0;) {
        if (c == 'c' && fresh) {
            skip_line();
            c = byte();
        } else if (c == '\n' || is_space(c)) {
            fresh = c == '\n' || (fresh && is_blank(c));
            c = byte();
        } else if (declared < 0) {
            const char *word = "p cnf";
            for (; *word; word++, c = byte())
                if (c != *word) unread("the formula has no header");
            int64_t sizes[2];
            for (int i = 0; i < 2; i++) {
                if (!is_blank(c)) unread("the formula has no header");
                while (is_blank(c)) c = byte();
                if (c == '-') unread("the formula has no header");
                sizes[i] = number(c, 10, &c);
            }
            if (sizes[0] > LARGEST_NAME) unread("the formula's header declares too many variables");
            variables = sizes[0];
            declared = sizes[1];
            while (is_blank(c) || c == '\r') c = byte();
            if (c >= 0 && c != '\n') unread("the formula has no header");
        } else {
            int64_t value = number(c, 10, &c);
            if ((value < 0 ? -value : value) > variables) unread("the formula's header disagrees with its clauses");
            push(into, value ? checked_literal(value) : 0);
            open = value != 0;
            clauses += !open;
            fresh = false;
        }
    }
    if (declared != clauses || open) unread("the formula's header disagrees with its clauses");
}

/* A number of a binary proof: groups of seven bits, lowest first, the high bit set on all but the last. */
static uint64_t packed(int c, int longest) {
    uint64_t value = 0;
    for (int length = 0;; c = byte()) {
        if (c < 0) unread("the last number has no end: the proof is cut short");
        if (length >= longest) unread("a number that is too long");
        value |= (uint64_t)(c & 0x7f) << (7 * length++);
        if (c < 0x80) {
            if (length > 1 && !c) unread("a number with needless bytes");
            break;
        }
    }
    if (value == 1) unread("a negated 0");
    return value;
}

static int64_t signed_of(uint64_t value) { return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1); }

static int drat_binary(Numbers *literals) {
    int kind = byte();
    if (kind < 0) return 0;
    if (kind != 'a' && kind != 'd') unread("a step that begins with neither `a` nor `d`");
    for (uint64_t value; (value = packed(byte(), 5));) push(literals, checked_literal(signed_of(value)));
    return kind;
}

static int drat_text(Numbers *literals) {
    static bool behind = false; /* the last byte was no newline, so that a `c` is no comment */
    int kind = 0;
    for (int c = byte(); c >= 0;) {
        if (c == 'c' && !behind) {
            skip_line();
            c = byte();
        } else if (is_space(c)) {
            behind = c != '\n';
            c = byte();
        } else if (c == 'd') {
            if (kind) unread("a `d` inside a step");
            kind = 'd';
            behind = true;
            if (!is_blank(c = byte())) unread("a `d` with something behind it");
        } else {
            behind = true;
            int64_t value = number(c, 10, &c);
            if (!kind) kind = 'a';
            if (!value) {
                if (c >= 0) back();
                return kind;
            }
            push(literals, checked_literal(value));
        }
    }
    if (kind) unread("the last step has no 0 at its end: the proof is cut short");
    return 0;
}

int drat_step(Spelling spelling, Numbers *literals) {
    literals->size = 0;
    int kind = spelling == DRAT_TEXT ? drat_text(literals) : drat_binary(literals);
    if (kind == 'd' && !literals->size) unread("a step deletes the empty clause");
    return kind;
}

static void hint(LratStep *step, int64_t value) {
    if (step->hint_count == step->hint_room) {
        step->hint_room += step->hint_room / 2 + 64;
        step->hints = resized(step->hints, step->hint_room, sizeof value);
    }
    if (!step->name && value < 0) unread("a deleted identifier that is not positive");
    step->hints[step->hint_count++] = value;
}

#define DIGITS 17

static int within_line(int c) {
    while (is_blank(c)) c = byte();
    if (c < 0 || c == '\n' || c == '\r') unread("a line that is no step of LRAT");
    return c;
}

static bool lrat_text(LratStep *step) {
    int c = byte();
    for (; is_space(c) || c == 'c'; c = byte())
        if (c == 'c') skip_line();
    if (c < 0) return false;
    int64_t value, name = number(c, DIGITS, &c);
    if (name <= 0) unread("an identifier that is not positive");
    c = within_line(c);
    if (c == 'd') {
        if (!is_blank(c = byte())) unread("a line that is no step of LRAT");
    } else {
        step->name = name;
        for (; (value = number(c, DIGITS, &c)); c = within_line(c)) push(&step->literals, checked_literal(value));
    }
    for (c = within_line(c); (value = number(c, DIGITS, &c)); c = within_line(c)) hint(step, value);
    while (is_blank(c) || c == '\r') c = byte();
    if (c >= 0 && c != '\n') unread("a line that is no step of LRAT");
    return true;
}

static bool lrat_binary(LratStep *step) {
    int kind = byte();
    if (kind < 0) return false;
    if (kind != 'a' && kind != 'd') unread("a step that begins with neither `a` nor `d`");
    uint64_t value;
    if (kind == 'a') {
        step->name = signed_of(packed(byte(), 9));
        if (step->name <= 0) unread("an identifier that is not positive");
        while ((value = packed(byte(), 9))) push(&step->literals, checked_literal(signed_of(value)));
    }
    while ((value = packed(byte(), 9))) hint(step, signed_of(value));
    return true;
}

bool lrat_step(Spelling spelling, LratStep *step) {
    step->name = 0;
    step->literals.size = step->hint_count = 0;
    return spelling == LRAT_TEXT ? lrat_text(step) : lrat_binary(step);
}
