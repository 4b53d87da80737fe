/*
 * app_rules.h - the rules for the reports of an app: its own rules, then the server's. Inside pipeline/ only.
 *
 * Compiled sets are kept until others need their row. The version in force is read from the database for every report.
 * One thread; a set is valid until the next call.
 */
#ifndef MIRE_PIPELINE_APP_RULES_H
#define MIRE_PIPELINE_APP_RULES_H

#include "feature/rules.h"
#include "pg/pg.h"

struct log;

#define MIRE_APP_RULES 8 /* sets kept */

struct app_rules {
    const struct rules *base; /* of the server */
    const struct log *log;
    struct app_rules_made {
        int32_t app;
        int64_t version; /* below zero: the draft of the preview with that number */
        uint64_t used;   /* number of its last use, counting up */
        struct rules *rules;
    } made[MIRE_APP_RULES];
    uint64_t now;
};

void app_rules_fini(struct app_rules *cache);

/* The rules in force for an app. Unreadable rules are logged, and the server's rules hold alone. 0 or a fault. */
int app_rules_of(const struct rules **out, struct app_rules *cache, struct pg_tx *tx, struct arena *arena, int32_t app);

/* The same with a draft in place of the app's rules. */
int app_rules_draft(const struct rules **out, struct app_rules *cache, const char *draft, int32_t app, int64_t job);

#endif
