/*
 * symbol_list.h - debug files that are there, and those that reports miss.
 */
#ifndef MIRE_ROWS_SYMBOL_LIST_H
#define MIRE_ROWS_SYMBOL_LIST_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pg_tx;

/* A module that reports of an app have frames in, and that there is no debug file for. Texts lie in the arena. */
struct missing_row {
    char *build_id; /* hexadecimal */
    const char *name, *arch;
    int64_t reports;            /* that miss it */
    int64_t reports_with_names; /* of them, those that have its functions' names, but neither lines nor inlined calls */
    int64_t first_seen_us;
    int64_t looks, look_at_us; /* how often it was looked for, and when it is again; 0: it is not looked for */
    const char *answer;        /* what came of it the last time */
    const char *version;       /* of a mapping that is known by the app's version: that, and the build; else "" */
    const char *build;
    const char *defect; /* what is wrong with what is there; "" */
};

/* Those that most reports know nothing of come first. */
int rows_missing_read(struct missing_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int64_t most);

struct symbol_row {
    char *build_id; /* hexadecimal */
    const char *kind, *arch, *name, *source;
    const char *defect; /* what of it is damaged; "" */
    const char *depth;  /* as in symbol_file */
    int64_t size_bytes, came_us;
    bool second; /* the app sent other contents under the same build id: these are used */
};

struct symbol_sum {
    int64_t files, bytes;
};

/* Debug files that an app sent, and those that came from nobody's app, newest first, and how many there are in all. */
int rows_symbol_files_read(struct symbol_row **out, size_t *count, struct symbol_sum *sum, struct pg_tx *tx,
                           struct arena *arena, int32_t app, int64_t most);

#endif
