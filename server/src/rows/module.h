/*
 * module.h - the libraries of apps, and which of them only one app has.
 */
#ifndef MIRE_ROWS_MODULE_H
#define MIRE_ROWS_MODULE_H

#include "pg/pg.h"

#define MIRE_MODULES_AT_ONCE 64

struct module_seen {
    const char *module; /* base name without a version */
    const char *path;
    bool unowned;
};

/*
 * Store the modules of an app's report.
 *
 *   seen       at most MIRE_MODULES_AT_ONCE, by rising module, each once
 *   known_out  per module: it was stored before with the same facts or more
 *
 * Returns 0 or a fault.
 */
int rows_modules_store(bool *known_out, struct pg_tx *tx, int32_t app_id, const struct module_seen *seen, size_t count);

/*
 * Modules that may be the app's own: no rule names their owner, and no other app has them.
 *
 *   compared_out  other apps with at least MIRE_MODULE_REPORTS reports. If there are fewer than MIRE_MODULE_APPS of
 *                 them, or the app itself has fewer reports, no module is returned
 *   out           rows of module, path, time; freed by the caller
 *
 * Returns 0 or a fault.
 */
#define MIRE_MODULE_APPS    3
#define MIRE_MODULE_REPORTS 20
int rows_modules_proposed(struct pg_rows **out, int64_t *compared_out, struct pg_tx *tx, int32_t app_id, int64_t most);

#endif
