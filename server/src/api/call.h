/*
 * call.h - one request to the API while it is answered.
 *
 * call_run is the common part of all requests: it refuses query names that the operation does not know, begins a
 * transaction (read-only unless the operation writes), finds the app, reads the parameters of the view, lets `answer`
 * write JSON, and makes the reply: an ETag, or 304 if the client has it already.
 */
#ifndef MIRE_API_CALL_H
#define MIRE_API_CALL_H

#include "api/api.h"
#include "json/bind.h"
#include "json/write.h"
#include "model/view.h"
#include "pg/pg.h"
#include "rows/apps.h"

struct call {
    const struct api *api;
    struct request *request;
    struct reply *reply;
    struct arena *arena;
    struct pg_tx *tx;
    bool may_use_replica, is_on_replica; /* `tx` may be, or is, of the replica */
    const char *slug;
    struct view view;
    int64_t issue; /* of the path; 0 where it has none */
    struct json_writer json;
    const char *table; /* in place of the kind's, where the question decides which; NULL: the kind's */
    const void *kept;  /* by `answer` for `later`; in the arena */
};

/* Results of `answer` besides 0 and faults. */
enum {
    CALL_REPLIED = 1, /* the reply is complete: a problem, a redirect, not JSON */
    CALL_LATER,       /* when the transaction has ended, call_run calls `later` */
    CALL_EXPENSIVE,   /* call_run's own: the request runs again in the lane of expensive queries */
};

typedef int (*call_answer)(struct call *call);

struct call_kind {
    const char *const *names; /* query names it knows, NULL-ended; NULL: none */
    bool has_app;             /* the path's first parameter is an app */
    bool has_issue;           /* and the second an issue of it */
    bool has_facets;          /* it filters by the facets of view->facets, which are among `names` */
    const char *table;        /* the lists of its answer that format=csv gives (api/csv.h), with blanks between: the one
                                 that table= names, else the first; NULL: none */
    bool writes;              /* the transaction may write; `answer` commits it */
    call_answer answer;
    call_answer later; /* returns what a handler returns; NULL: `answer` returns no CALL_LATER */
};

/* Returns what a handler returns. */
int call_run(void *api, struct request *request, struct reply *reply, const struct call_kind *kind);

/* Replace call->issue by the issue that it is shown as. 0 or a fault. */
int call_show(struct call *call);

struct issue_summary;

/* Read the summary of call->issue. 0, CALL_REPLIED (404: the app has no such issue), or a fault. */
int call_summary(struct issue_summary **out, struct call *call);

/* Answer 404: the app has no issue of the path's name. Returns CALL_REPLIED. */
int call_no_issue(struct call *call);

/* Answer 400: the parameter, its value, and what is allowed. Returns CALL_REPLIED. */
int call_refuse(struct call *call, const char *name, const char *allowed);

/* Answer 404. Returns CALL_REPLIED. */
__attribute__((format(printf, 2, 3))) int call_missing(struct call *call, const char *format, ...);

/* Answer with another problem. Returns CALL_REPLIED. */
__attribute__((format(printf, 4, 5))) int call_problem(struct call *call, int status, const char *code,
                                                       const char *format, ...);

/* Read the body (api/body.h). 0, CALL_REPLIED, or a fault. */
int call_body(void *out, struct call *call, const struct bind_field *fields, size_t count, const char *about);

struct audit_row;

/* The apps that the asker may see. */
struct apps_seen call_seen(const struct request *request);

/* Write a row of the audit log about the change; person, address and app are filled in. 0 or a fault. */
int call_audit(struct call *call, const struct audit_row *row);

/* The same outside a call. */
int audit_request(struct pg_tx *tx, const struct request *request, const struct audit_row *row);

/* An integer parameter, or `otherwise`. 0 or CALL_REPLIED. */
int call_integer(int64_t *out, struct call *call, const char *name, int64_t low, int64_t high, int64_t otherwise);

/* Hash of path and query without cursor and limit; a cursor is valid for one such hash. */
uint64_t call_query_hash(const struct call *call);

/* Set the ETag; when the client named it, turn the reply into 304. The body must be complete. */
void call_etag(struct request *request, struct reply *reply, const void *body, size_t len);

#endif
