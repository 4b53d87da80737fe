/*
 * problem.c - filling a problem.
 */
#include "base/problem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

void problem_set(struct problem *problem, const char *code, const char *format, ...)
{
    va_list args;
    problem->code = code;
    va_start(args, format);
    text_vformat(problem->text, sizeof problem->text, format, args);
    va_end(args);
}
