/*
 * context.h - the parts of a report's context by which people find the event: the user's hash, and the kept tags. Pure;
 * texts lie in the arena. Thread: any.
 */
#ifndef MIRE_MODEL_CONTEXT_H
#define MIRE_MODEL_CONTEXT_H

#include "base/arena.h"
#include "model/report.h"

#define MIRE_USER_HASH    16
#define MIRE_TAGS_KEPT    8   /* names of tags in an app's settings */
#define MIRE_TAG_NAME_MAX 32  /* bytes of such a name: letters, digits, "_", "-" and "." */
#define MIRE_TAG_MAX      255 /* bytes of "name=value" */

/* The hash of a user's id, as mire_set_user makes it. 0, or MIRE_FAULT_MEMORY. */
int context_hash(uint8_t out[MIRE_USER_HASH], struct arena *arena, const char *id);

/* The same for an id or its hash: 32 hex digits are a hash already. */
int context_user(uint8_t out[MIRE_USER_HASH], struct arena *arena, const char *user);

/* Is this a valid name of a tag for mire_set_tag? */
bool context_is_tag_name(const char *name);

/* "name=value", cut between two characters; NULL without memory. */
const char *context_tag(struct arena *arena, const char *name, const char *value);

/* The values of the report's tags for a list of names with blanks between, each at its name's index, as context_tag has it;
 * "" without such a tag; up to the last tag that exists. 0, or MIRE_FAULT_MEMORY. */
int context_tags(const char **out, size_t *count_out, struct arena *arena, const struct report_context *context,
                 const char *names);

#endif
