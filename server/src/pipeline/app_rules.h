/*
 * app_rules.h - the rules that an app's reports are worked on with: its own, before those of the server. Inside work/
 * only.
 *
 * Made rules are kept until others need the room; which version holds is asked of the database for every report. One
 * thread; what is handed out lives until the next call.
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
        int64_t version; /* below zero: a draft, of the preview of that number */
        uint64_t used;   /* when it was last asked for, counting up */
        struct rules *rules;
    } made[MIRE_APP_RULES];
    uint64_t now;
};

void app_rules_fini(struct app_rules *cache);

/* The rules that hold for an app. Such as cannot be read are logged, and the server's stand alone. 0 or a fault. */
int app_rules_of(const struct rules **out, struct app_rules *cache, struct pg_tx *tx, struct arena *arena, int32_t app);

/* The same if a draft held in their place. */
int app_rules_draft(const struct rules **out, struct app_rules *cache, const char *draft, int32_t app, int64_t job);

#endif
