/* known.c - see known.h: two hash tables of fixed size. */
#include "known.h"

#include <string.h>

static struct known_row *row_of(struct known_row *rows, const uint8_t *key)
{
    uint16_t at;
    memcpy(&at, key, sizeof at);
    while (rows[at].issue && memcmp(rows[at].key, key, sizeof rows[at].key) != 0)
        at++;
    return &rows[at];
}

static int find(void *context, int64_t *out, const struct issue_row *issue)
{
    struct known *known = context;
    *out = row_of(known->keys, issue->feature_key)->issue;
    return *out != 0;
}

static int open(void *context, int64_t *out, const struct issue_row *issue)
{
    struct known *known = context;
    struct known_row *row = row_of(known->keys, issue->feature_key);
    struct known_row *blame = row_of(known->blames, issue->blame_key);
    memcpy(row->key, issue->feature_key, sizeof row->key);
    *out = row->issue = ++known->count;
    known->shown[*out] = *out;
    if (!issue->joins)
        return 0;
    memcpy(blame->key, issue->blame_key, sizeof blame->key);
    blame->issue = blame->issue ? blame->issue : *out;
    blame->count++;
    return 0;
}

static int alone(void *context, int32_t app)
{
    (void)context, (void)app;
    return 0;
}

static int scenes(void *context, struct cluster_scenes *out, int32_t app, const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    struct known *known = context;
    const struct known_row *row = row_of(known->blames, blame);
    (void)app;
    *out = (struct cluster_scenes){row->issue, row->count};
    return 0;
}

static int join(void *context, int32_t app, int64_t issue, int64_t into)
{
    struct known *known = context;
    (void)app;
    known->shown[issue] = known->shown[into];
    return 0;
}

struct cluster_index known_index(struct known *known)
{
    return (struct cluster_index){known, find, open, alone, scenes, join};
}
