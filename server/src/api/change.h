/*
 * change.h - one change of a rollout, or of an app's rules, while it is made.
 *
 *     change_run: transaction -> app -> body -> fill, which makes the version after `base` -> audit -> commit -> 201
 *
 * Every change names the version that it was made from. If two people change the same version, the second gets 409.
 */
#ifndef MIRE_API_CHANGE_H
#define MIRE_API_CHANGE_H

#include "api/body.h"
#include "rows/ramp.h"
#include "rows/document.h"

struct rollout;

struct change {
    enum rows_document what;
    struct request *request;
    struct reply *reply;
    struct pg_tx *tx;
    int64_t now_us;
    int32_t app;
    uint64_t base;
    bool same;               /* set by fill: no version is made, `base` stays in force */
    uint64_t to;             /* of a revert: the version with the rules */
    struct rollout *rollout; /* of a new version of it */
    struct rows_document_version row;
    int64_t job; /* set by fill: the job that derives reports again; 0: none */
    struct rows_ramp ramp;
    const char *action; /* on a ramp */
};

/* Rows of the body's table that every change has. */
/* clang-format off */
#define MIRE_CHANGE_FIELDS \
    {"base", MIRE_BIND_U64, offsetof(struct change, base), .required = true, .max = INT64_MAX}, \
    {"author", MIRE_BIND_TEXT, offsetof(struct change, row.author), .max = MIRE_CHANGE_WHO_MAX}, \
    {"reason", MIRE_BIND_TEXT, offsetof(struct change, row.reason), .required = true, .max = MIRE_CHANGE_WHY_MAX}
/* clang-format on */

/* fill: 0, 1 (the reply is a problem), or a fault. Returns what a handler returns. */
int change_run(struct change *change, struct pg *pg, const struct bind_field *fields, size_t count,
               int (*fill)(struct change *change));

/* Make the reply a problem; both return 1. */
int change_refuse(struct change *change, int status, const char *code, const char *text);
int change_moved(struct change *change);

/* Make version `base` + 1 of change->row. 0, 1, or a fault. */
int change_store(struct change *change);

/* A fill that makes a version with the rules of version change->to. */
int change_go_back(struct change *change);

#endif
