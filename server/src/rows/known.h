/*
 * known.h - values that an app's reports may name. An app takes in a number of new values a day; further ones count as
 * "other". Every function runs inside the worker's transaction and returns 0 or a fault.
 */
#ifndef MIRE_ROWS_KNOWN_H
#define MIRE_ROWS_KNOWN_H

#include "model/view.h"
#include "pg/pg.h"

enum known_kind { MIRE_KNOWN_VERSION, MIRE_KNOWN_CHANNEL, MIRE_KNOWN_CLASS, MIRE_KNOWN_ISSUE, MIRE_KNOWN_KINDS };

/* As in known_value.kind; static. */
extern const char *const known_kinds[MIRE_KNOWN_KINDS];

#define MIRE_KNOWN_OTHER "other" /* stands for values that are put aside; known_value has no row of it */

/*
 * Set known_out of the values that are known. Unknown ones are taken in, and so are known, while the app has taken in
 * fewer than `most` of that kind today, by the database's clock in UTC; 0: no limit. Several workers at once may take in
 * some more.
 */
int rows_known_take(bool *known_out, struct pg_tx *tx, int32_t app_id, enum known_kind kind, const char *const *values,
                    size_t count, int64_t most);

/* Count reports whose values were put aside today, by kind. */
int rows_put_aside_add(struct pg_tx *tx, int32_t app_id, const int64_t reports[MIRE_KNOWN_KINDS]);

/* Reports whose values were put aside in the days of the view's span, by kind. */
int rows_put_aside_read(int64_t out[MIRE_KNOWN_KINDS], struct pg_tx *tx, const struct view *view);

#endif
