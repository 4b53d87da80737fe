/*
 * symbol_list.h - the stored debug files, and the modules that lack one.
 */
#ifndef MIRE_ROWS_SYMBOL_LIST_H
#define MIRE_ROWS_SYMBOL_LIST_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pg_tx;

/* A module in the stacks of an app's reports, without a debug file. Texts lie in the arena. */
struct missing_row {
    char *build_id; /* hexadecimal */
    const char *name, *arch;
    int64_t reports;            /* that lack it */
    int64_t reports_with_names; /* reports with function names, but neither lines nor inlined calls */
    int64_t first_seen_us;
    int64_t looks, look_at_us; /* number of searches, and the time of the next one; 0: there is none */
    const char *answer;        /* of the last search */
    const char *version;       /* of a mapping known by the app's version: version and build; otherwise "" */
    const char *build;
    const char *defect; /* of the stored file; "" */
};

/* The modules without names in most reports come first. */
int rows_missing_read(struct missing_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int64_t most);

struct symbol_row {
    char *build_id; /* hexadecimal */
    const char *kind, *arch, *name, *source;
    const char *defect; /* the damaged part; "" */
    const char *depth;  /* as in symbol_file */
    int64_t size_bytes, came_us;
    bool second; /* the app sent other contents under the same build id; this file is used */
};

struct symbol_sum {
    int64_t files, bytes;
};

/* The debug files sent by an app, and those sent by no app, newest first; and the total number. */
int rows_symbol_files_read(struct symbol_row **out, size_t *count, struct symbol_sum *sum, struct pg_tx *tx,
                           struct arena *arena, int32_t app, int64_t most);

#endif
