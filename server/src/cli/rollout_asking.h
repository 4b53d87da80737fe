/* rollout_asking.h - common parts of the verbs of `mire rollout`. */
#ifndef MIRE_CLI_ROLLOUT_ASKING_H
#define MIRE_CLI_ROLLOUT_ASKING_H

#include "base/arena.h"
#include "base/text.h"
#include "cli/asking.h"
#include "rollout/rollout.h"

#include <stdbool.h>

struct rollout_options {
    struct asking api;
    const char *reason, *author, *rule;
    double hold_h, crash, cpu, reports; /* of a ramp */
    bool backs;
    char **words;
    int word_count;
    struct arena arena;
    int64_t version; /* that holds */
    struct rollout rules;
};

/* Print an error; returns a status. */
int rollout_wrong(const char *what);
int rollout_no_memory(void);

/* Fetch the rollout in force, or a version, into `asking`. A status. */
int rollout_fetch(struct rollout_options *asking, const char *version);

/* Send a change made from the version in `asking`: `more` are its own members. A status. */
int rollout_change(struct rollout_options *asking, const char *method, const char *path, const struct text *more);

/* `mire rollout ramp`; and its options: the error in a value, or NULL. (rollout_ramp.c) */
int rollout_ramp(struct rollout_options *asking);
const char *rollout_take_guard(void *asking, char *word);
const char *rollout_take_hold(void *asking, char *word);
const char *rollout_take_on_guard(void *asking, char *word);

#endif
