/*
 * document_versions.h - common parts of the answers about an app's rollout and its rules: a version of a text with its
 * author and reason, and the jobs that its change started.
 */
#ifndef MIRE_API_DOCUMENT_VERSIONS_H
#define MIRE_API_DOCUMENT_VERSIONS_H

#include "api/call.h"

#include "rows/document.h"

/* A version, and the list of all, newest first; in the call's arena. */
struct document_versions {
    struct rows_document_version row, *history;
    size_t count;
};

/*
 * The version that the parameter "version" names, or the newest.
 *   what  "rollout" or "rules", for the text of a 404
 * Returns 0, CALL_REPLIED or a negative fault.
 */
int document_versions_read(struct document_versions *out, struct call *call, enum rows_document of, const char *what);

/* The members of the version; and "history". */
void document_versions_put(struct json_writer *w, const struct document_versions *versions);
void document_versions_put_history(struct json_writer *w, const struct document_versions *versions);

/* "flows": where a job moves reports from and to, those with most reports first. Returns 0 or a negative fault. */
int document_versions_put_flows(struct json_writer *w, struct pg_tx *tx, int64_t job, int most);

#endif
