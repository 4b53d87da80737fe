/*
 * answer.h - answers of a mired: reading and printing. Inside cli/ only.
 */
#ifndef MIRE_CLI_ANSWER_H
#define MIRE_CLI_ANSWER_H

#include "base/text.h"
#include "json/json.h"

/* Read an answer that is an object. False: it is no object; the error is on stderr, in the name of `command`. */
bool answer_read(struct json *json, const struct text *body, const char *command, const char *server);

/* A member's whole number; 0 without one. */
int64_t answer_number(const struct json *json, uint32_t object, const char *name);

/* A member's text, owned by the caller; "" if there is none. NULL: out of memory. */
char *answer_text(const struct json *json, uint32_t object, const char *name);

/* Print what a preview found, of so many reports, and how many of them were derived for it (schema/api). */
void answer_print_preview(const struct json *json, uint32_t job, int64_t reports);

/* Print `flows` of a job (schema/api): which issue's reports go where, most reports first, at most `most` lines. */
void answer_print_flows(const struct json *json, uint32_t job, unsigned most);

/* Print a text of the server line by line, so that nothing in it can drive the terminal. */
void answer_print_lines(const struct text *body);

#endif
