/*
 * sending.c - see sending.h. Each file is a line of text, replaced as a whole.
 */
#include "store/sending.h"

#include "base/alloc.h"
#include "store/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const consents[] = {
    [MIRE_CONSENT_UNKNOWN] = "unknown", [MIRE_CONSENT_GIVEN] = "given", [MIRE_CONSENT_REFUSED] = "refused"};

#define LINE_BYTES 64

/* Without its newline; "" if there is none. */
static void read_line(char line[LINE_BYTES], struct store *store, const char *name)
{
    ssize_t length = mire__store_load(store, name, line, LINE_BYTES - 1);

    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

static enum mire_err write_line(struct store *store, const char *name, const char *line)
{
    const struct disk_part parts[] = {{line, strlen(line)}, {"\n", 1}};

    return mire__store_save(store, name, parts, 2);
}

/* "<one> <other>" in decimal, or "<one>" alone; any other text gives zeros. */
static void read_pair(uint64_t *one_out, uint64_t *other_out, struct store *store, const char *name)
{
    char line[LINE_BYTES], *end;

    read_line(line, store, name);
    *one_out = strtoull(line, &end, 10);
    *other_out = *end == ' ' ? strtoull(end + 1, &end, 10) : 0;
    if (end == line || *end)
        *one_out = *other_out = 0;
}

static enum mire_err write_pair(struct store *store, const char *name, uint64_t one, uint64_t other)
{
    char line[LINE_BYTES];

    snprintf(line, sizeof(line), "%llu %llu", (unsigned long long)one, (unsigned long long)other);
    return write_line(store, name, line);
}

void mire__store_after(struct store_after *out, struct store *store)
{
    read_pair(&out->until_ms, &out->said_ms, store, "after");
}

enum mire_err mire__store_set_after(struct store *store, const struct store_after *after)
{
    return write_pair(store, "after", after->until_ms, after->said_ms);
}

enum mire_err mire__store_spend(uint64_t *spent_out, struct store *store, uint64_t day, uint64_t bytes, uint64_t cap)
{
    uint64_t then;
    enum mire_err err;
    int lock;

    read_pair(&then, spent_out, store, "spent"); /* deletes a damaged file, which needs the lock */
    lock = mire__store_lock(store, MIRE_STORE_LOCK_MS);
    read_pair(&then, spent_out, store, "spent");
    if (day > then)
        *spent_out = 0; /* if the clock went back, the count stays */
    if (bytes > cap || *spent_out > cap - bytes)
        err = MIRE_E_FULL;
    else
        err = lock < 0 ? MIRE_E_STORE : write_pair(store, "spent", day, *spent_out + bytes);
    if (err == MIRE_OK)
        *spent_out += bytes;
    mire__disk_unlock(lock);
    return err;
}

enum mire_consent mire__store_consent(struct store *store)
{
    char line[LINE_BYTES];

    read_line(line, store, "consent");
    for (size_t i = 0; i < sizeof(consents) / sizeof(consents[0]); i++)
        if (strcmp(line, consents[i]) == 0)
            atomic_store(&store->consent, (uint32_t)i);
    return (enum mire_consent)atomic_load(&store->consent); /* holds even if the file can no longer be read */
}

enum mire_err mire__store_set_consent(struct store *store, enum mire_consent consent)
{
    const struct disk_part parts[] = {{consents[consent], strlen(consents[consent])}, {"\n", 1}};

    atomic_store(&store->consent, (uint32_t)consent);
    return mire__store_save_sealed(store, "consent", parts, 2); /* a refusal survives a power loss */
}

bool mire__store_refused(struct store *store)
{
    struct store_item *items;
    size_t count;

    if (mire__store_consent(store) != MIRE_CONSENT_REFUSED)
        return false;
    items = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    count = items ? mire__store_list(items, MIRE_STORE_LIST_MAX, store) : 0;
    for (size_t i = 0; i < count; i++)
        mire__store_drop(store, items[i].id, MIRE_DROP_CONSENT);
    mire__free(items);
    return true;
}
