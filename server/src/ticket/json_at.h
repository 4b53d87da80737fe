/*
 * json_at.h - values of a document by their path. Inside ticket/ only.
 */
#ifndef MIRE_TICKET_JSON_AT_H
#define MIRE_TICKET_JSON_AT_H

#include "base/arena.h"
#include "json/json.h"

#include <stdarg.h>

/* Place of members within each other, names NULL-ended; 0: there is none. */
uint32_t json_at(const struct json *json, uint32_t at, ...);

/* A string, or a whole number as text, in the arena. "": the place is 0 or has neither. NULL: no memory. */
const char *json_at_text(struct arena *arena, const struct json *json, uint32_t at);

#endif
