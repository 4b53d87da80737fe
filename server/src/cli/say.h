/*
 * say.h - printf for a terminal, used by all commands. Names come from reports, users and servers. So in the text of
 * each %s, every character that could move the cursor, colour the terminal, begin a line or reverse one is printed as
 * '?'. The format itself is the program's and is printed unchanged.
 */
#ifndef MIRE_CLI_SAY_H
#define MIRE_CLI_SAY_H

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

/*
 * Print, or append to `out`. As printf but: the width of %s is columns of a terminal, not bytes; there are no %n, %p,
 * %a, %e, %S, and no `long double`.
 */
__attribute__((format(printf, 2, 3))) void say(FILE *file, const char *format, ...);
__attribute__((format(printf, 2, 0))) void say_list(FILE *file, const char *format, va_list args);
__attribute__((format(printf, 2, 3))) void say_add(struct text *out, const char *format, ...);

#endif
