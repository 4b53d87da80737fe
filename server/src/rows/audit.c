/* audit.c - see audit.h. */
#include "rows/audit.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* A text that is too long is cut between characters. */
static const char *fit(char out[MIRE_AUDIT_TEXT_MAX + 8], const char *text)
{
    size_t len = text ? strlen(text) : 0;
    if (len <= MIRE_AUDIT_TEXT_MAX)
        return text ? text : "";
    snprintf(out, MIRE_AUDIT_TEXT_MAX + 8, "%.*s...", (int)text_cut(text, len, MIRE_AUDIT_TEXT_MAX), text);
    return out;
}

int rows_audit_add(struct pg_tx *tx, const struct audit_row *row)
{
    char before[MIRE_AUDIT_TEXT_MAX + 8], after[MIRE_AUDIT_TEXT_MAX + 8];
    return pg_query(NULL, tx,
                    "INSERT INTO audit (who, via, address, app_id, action, subject, before, after, reason)"
                    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                    PG_TEXT(row->who), PG_TEXT(row->via), PG_TEXT(row->address ? row->address : ""), PG_INT4(row->app),
                    PG_TEXT(row->action), PG_TEXT(row->subject ? row->subject : ""), PG_TEXT(fit(before, row->before)),
                    PG_TEXT(fit(after, row->after)), PG_TEXT(row->reason ? row->reason : ""));
}

static int take(struct audit_row *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char *texts[9];
    for (int i = 0; i < 9; i++)
        if (!(texts[i] = arena_strdup(arena, pg_text(rows, row, i + 3))))
            return MIRE_FAULT_MEMORY;
    *out = (struct audit_row){.audit = pg_int(rows, row, 0),
                              .at_us = pg_time(rows, row, 1),
                              .app = (int32_t)pg_int(rows, row, 2),
                              .who = texts[0],
                              .via = texts[1],
                              .address = texts[2],
                              .slug = texts[3],
                              .action = texts[4],
                              .subject = texts[5],
                              .before = texts[6],
                              .after = texts[7],
                              .reason = texts[8]};
    return 0;
}

int rows_audit_list(struct audit_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                    const struct audit_filter *filter)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT audit_id, at, l.app_id, who, via, address, coalesce(a.slug, ''), action, subject, before,"
                      " after, reason FROM audit l LEFT JOIN app a USING (app_id)"
                      " WHERE (NOT $1 OR l.app_id = $2) AND ($3 = '' OR starts_with(action, $3))"
                      " AND ($4 = '' OR who = $4) AND ($5 = 0 OR audit_id < $5) ORDER BY audit_id DESC LIMIT $6",
                      PG_BOOL(filter->is_of_app), PG_INT4(filter->app), PG_TEXT(filter->action), PG_TEXT(filter->who),
                      PG_INT8(filter->before), PG_INT4(filter->limit));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take(&(*out)[i], arena, rows, i);
    return *out ? rc : MIRE_FAULT_MEMORY;
}
