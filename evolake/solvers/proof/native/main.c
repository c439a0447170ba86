/* Check a proof of unsatisfiability: check FORMULA PROOF SPELLING, where SPELLING is drat-text, drat-binary, lrat-text or lrat-binary.

   The one line that it prints begins with "verified" only if the whole proof was read, in the declared format, and shows that the formula
   is unsatisfiable. Every other answer leaves the verdict to the checker in Python and Rust (see native_check.py), so this program may be
   stricter than that one, and must never be more lenient. It runs in the jail: both files are an adversary's. */

#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void end(const char *verdict, const char *reason, ...) {
    va_list arguments;
    va_start(arguments, reason);
    printf("%s ", verdict);
    vprintf(reason, arguments);
    printf("\n");
    va_end(arguments);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

void *resized(void *old, size_t count, size_t size) {
    void *result = count > SIZE_MAX / size ? NULL : realloc(old, (count ? count : 1) * size);
    if (!result) end("unknown", "it needs more memory than there is");
    return result;
}

void push(Numbers *numbers, int32_t number) {
    if (numbers->size == numbers->room) {
        numbers->room += numbers->room / 2 + 64;
        numbers->at = resized(numbers->at, numbers->room, sizeof number);
    }
    numbers->at[numbers->size++] = number;
}

int main(int count, char **words) {
    static const char *const names[] = {"drat-text", "drat-binary", "lrat-text", "lrat-binary"};
    for (int spelling = 0; count == 4 && spelling < 4; spelling++)
        if (!strcmp(words[3], names[spelling])) {
            Numbers formula = {0};
            read_formula(words[1], &formula);
            open_file(words[2]);
            if (spelling < LRAT_TEXT) check_drat(&formula, spelling);
            check_lrat(&formula, spelling);
        }
    fprintf(stderr, "usage: check FORMULA PROOF drat-text|drat-binary|lrat-text|lrat-binary\n");
    return 2;
}
