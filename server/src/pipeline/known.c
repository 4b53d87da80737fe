/* known.c - see known.h. */
#include "pipeline/known.h"

#include "base/fault.h"
#include "base/id.h"

#include <stdio.h>
#include <string.h>

/* A value that a report names, and where. */
struct named {
    enum known_kind kind;
    const char **text; /* of the report; replaced by "other" */
    const char *key;   /* the value as a row has it */
    int64_t most;
};

/* Half of a cryptographic hash: nobody can make a value that has the hash of another one. */
static uint64_t hash_of(int32_t app_id, enum known_kind kind, const char *key)
{
    uint8_t whole[16];
    uint64_t hash;

    hash_blake2b(whole, sizeof whole, key, strlen(key));
    memcpy(&hash, whole, sizeof hash);
    return (hash ^ ((uint64_t)app_id << 8 | (uint64_t)kind)) | 1;
}

static uint64_t *place_of(struct known *known, uint64_t hash)
{
    return &known->values[(hash >> 16) & (MIRE_KNOWN_ROOM - 1)];
}

/* Is the value known, or taken in now? It is remembered then. */
static int ask(bool *is_known, const struct item *item, const struct named *named)
{
    uint64_t hash = hash_of(item->claim.app_id, named->kind, named->key);
    uint64_t *place = place_of(item->known, hash);

    *is_known = *place == hash;
    if (*is_known)
        return 0;
    item->known->is_open = true;
    int rc = rows_known_take(is_known, item->tx, item->claim.app_id, named->kind, &named->key, 1, named->most);
    if (!rc && *is_known)
        *place = hash;
    return rc;
}

int known_take(struct item *item)
{
    struct report *report = &item->report;
    int64_t most = item->known->limits.values;
    const char *version = stages_cut(item, report->app.version), *build = stages_cut(item, report->app.build);
    const struct named all[] = {
        {MIRE_KNOWN_VERSION, &report->app.version,
         version && build ? arena_printf(item->arena, "%s\t%s", version, build) : NULL, most},
        {MIRE_KNOWN_CHANNEL, &report->app.channel, stages_cut(item, report->app.channel), (most + 9) / 10},
        {MIRE_KNOWN_CLASS, &report->device.class_name, stages_cut(item, report->device.class_name), most},
    };
    int rc = 0;

    for (size_t i = 0; most && !rc && i < sizeof all / sizeof *all; i++) {
        bool is_known = true;
        if (!all[i].key)
            return MIRE_FAULT_MEMORY;
        if (all[i].text[0][0] && strcmp(*all[i].text, MIRE_KNOWN_OTHER) != 0)
            rc = ask(&is_known, item, &all[i]);
        if (is_known)
            continue;
        *all[i].text = MIRE_KNOWN_OTHER;
        item->aside |= 1u << all[i].kind;
        if (all[i].kind == MIRE_KNOWN_VERSION)
            report->app.build = "";
    }
    return rc;
}

int known_issues(struct item *const *firsts, size_t count)
{
    int64_t most = count ? firsts[0]->known->limits.issues : 0;

    if (!most)
        return 0;
    struct arena *arena = firsts[0]->arena;
    const char **keys = arena_array(arena, count, sizeof *keys);
    bool *is_known = arena_array(arena, count, sizeof *is_known);
    if (!keys || !is_known)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        char *hex = arena_alloc(arena, 2 * MIRE_FEATURE_KEY_LEN + 1);
        if (!hex)
            return MIRE_FAULT_MEMORY;
        hex_format(hex, firsts[i]->feature.key, MIRE_FEATURE_KEY_LEN);
        keys[i] = hex;
    }
    int rc = rows_known_take(is_known, firsts[0]->tx, firsts[0]->claim.app_id, MIRE_KNOWN_ISSUE, keys, count, most);
    for (size_t i = 0; !rc && i < count; i++)
        if (!is_known[i])
            firsts[i]->aside |= 1u << MIRE_KNOWN_ISSUE;
    return rc;
}

void known_other_issue(struct issue_row *issue)
{
    char text[96];

    issue->caller1 = MIRE_KNOWN_OTHER;
    issue->caller1_image = issue->caller1_location = issue->caller2 = issue->caller2_image = "";
    issue->reason = "unknown";
    issue->subject = issue->subject[0] ? MIRE_KNOWN_OTHER : "";
    issue->unnamed = issue->joins = false;
    int len = snprintf(text, sizeof text, "other\n%s\n%s", issue->category, issue->subject);
    hash_blake2b(issue->feature_key, sizeof issue->feature_key, text, (size_t)len);
    memcpy(issue->blame_key, issue->feature_key, sizeof issue->blame_key);
}

int known_count(const struct item *items, size_t count)
{
    int64_t reports[MIRE_KNOWN_KINDS] = {0};

    for (size_t i = 0; i < count; i++)
        for (int kind = 0; kind < MIRE_KNOWN_KINDS; kind++)
            reports[kind] += !items[i].failed && items[i].aside >> kind & 1;
    return count ? rows_put_aside_add(items[0].tx, items[0].claim.app_id, reports) : 0;
}
