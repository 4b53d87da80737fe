/*
 * left_out.h - the parts of the context that the rollout excludes from reports.
 *
 *     "user crumbs tag:plan"   words with blanks between
 *
 *     state, scene, user, crumbs   that part
 *     tags                         all tags, flags and conditions of the device
 *     flags                        feature flags: the tags that begin with "flag."
 *     tag:NAME                     that tag
 *
 * Other words have no effect. Excluded values stay in the blackbox and are in no report, including the reports of runs
 * that died before the words arrived. The words apply to the whole process.
 */
#ifndef MIRE_REPORT_LEFT_OUT_H
#define MIRE_REPORT_LEFT_OUT_H

#include "wire/limits.h"

#include <stdbool.h>

#define MIRE_FLAG_PREFIX "flag."

/* Set the words. Thread: one at a time. */
void mire__left_out_set(const char *words);

/* The current words. Thread: any. */
struct left_out {
    char words[MIRE_WIRE_LEAVE_OUT_MAX + 1];
};
void mire__left_out_get(struct left_out *out);

/* Is the word, or the tag with that name, among them? Pure. */
bool mire__left_out_has(const struct left_out *left_out, const char *word);
bool mire__left_out_has_tag(const struct left_out *left_out, const char *name);

#endif
