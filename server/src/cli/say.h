/*
 * say.h - printf for a terminal: how commands print. Names come from reports, from users and from servers, so of each
 * %s whatever could move the cursor, colour the terminal, begin a line or reverse one is shown as '?'. The format
 * itself is ours and goes out as it stands.
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
