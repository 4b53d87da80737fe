/* app_rules.c - see app_rules.h. */
#include "pipeline/app_rules.h"

#include "base/fault.h"
#include "base/log.h"
#include "rows/document.h"

#include <string.h>

void app_rules_fini(struct app_rules *cache)
{
    for (size_t i = 0; i < MIRE_APP_RULES; i++)
        rules_free(cache->made[i].rules);
}

/* The row of a set: its own one, otherwise the least recently used. */
static struct app_rules_made *slot_of(struct app_rules *cache, int32_t app, int64_t version)
{
    struct app_rules_made *oldest = &cache->made[0];

    for (size_t i = 0; i < MIRE_APP_RULES; i++) {
        struct app_rules_made *made = &cache->made[i];
        if (made->rules && made->app == app && made->version == version)
            return made;
        if (made->used < oldest->used)
            oldest = made;
    }
    return oldest;
}

static int make(const struct rules **out, struct app_rules *cache, const char *text, int32_t app, int64_t version)
{
    struct app_rules_made *made = slot_of(cache, app, version);
    const struct rules_source source = {"app", text, strlen(text), version > 0 ? (int)version : 1};
    struct rules_fault fault = {0};

    if (made->rules && made->app == app && made->version == version) {
        made->used = ++cache->now;
        *out = made->rules;
        return 0;
    }
    rules_free(made->rules);
    *made = (struct app_rules_made){app, version, ++cache->now, NULL};
    *out = cache->base;
    switch (rules_before(&made->rules, &fault, &source, cache->base)) {
    case MIRE_RULES_OK:
        *out = made->rules;
        return 0;
    case MIRE_RULES_WRONG:
        made->rules = NULL;
        made->used = 0;
        log_event(cache->log, MIRE_LOG_WARN, "work.app_rules", LOG_NUMBER("app", app), LOG_NUMBER("version", version),
                  LOG_NUMBER("line", fault.line), LOG_TEXT("reason", fault.text));
        return 0;
    default:
        made->rules = NULL;
        made->used = 0;
        return MIRE_FAULT_MEMORY;
    }
}

int app_rules_of(const struct rules **out, struct app_rules *cache, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    struct rows_document_version rules_version = {0};
    int64_t version;
    int rc = rows_document_number(&version, tx, ROWS_DOCUMENT_RULES, app);

    *out = cache->base;
    if (rc || !version)
        return rc;
    struct app_rules_made *made = slot_of(cache, app, version);
    if (!made->rules || made->app != app || made->version != version)
        rc = rows_document_find(&rules_version, tx, arena, ROWS_DOCUMENT_RULES, app, version);
    return rc ? rc : make(out, cache, rules_version.rules ? rules_version.rules : "", app, version);
}

int app_rules_draft(const struct rules **out, struct app_rules *cache, const char *draft, int32_t app, int64_t job)
{
    return make(out, cache, draft, app, -job);
}
