/*
 * forget.c - the end of a report: it is sent, or dropped and counted, by a caller or by the caps.
 */
#include "store/inside.h"

#include "base/alloc.h"
#include "platform/own.h"

#include <stdlib.h>
#include <string.h>

void mire__store_done(struct store *store, const char *id)
{
    char path[MIRE_STORE_PATH_MAX];

    mire__store_finish(store); /* whether the report exists decides the step that a killed process began */
    if (mire__store_report_path(path, store, id) && mire__store_remove(store, path))
        atomic_fetch_add_explicit(&store->sent_count, 1, memory_order_relaxed);
}

/* A report to be dropped, and the reason. */
struct victim {
    const char *id;
    enum store_reason reason;
};

/* The ledger is locked or cannot be read: count in memory. */
static void drop_uncounted(struct store *store, const struct victim *victim)
{
    uint64_t add[MIRE_DROP_REASONS] = {0};
    char path[MIRE_STORE_PATH_MAX];

    if (!mire__store_report_path(path, store, victim->id) || !mire__store_report_losses(add, path) ||
        !mire__store_remove(store, path)) /* of several processes the one that removes the file counts the loss */
        return;
    add[victim->reason]++;
    mire__store_keep_drops(store, add);
    atomic_fetch_add_explicit(&store->dropped_count, 1, memory_order_relaxed);
}

static bool is_going(const struct ledger *ledger, const char *id)
{
    for (size_t i = 0; i < ledger->dropping; i++)
        if (strcmp(ledger->ids[i], id) == 0)
            return true;
    return false;
}

/* One batch: write counts and "dropping" lines, delete the reports, remove the lines. */
static void drop_some(struct store *store, const struct victim *victims, size_t count)
{
    uint64_t losses[MIRE_DROP_REASONS];
    char path[MIRE_STORE_PATH_MAX];
    struct ledger ledger;
    size_t before;

    if (!mire__ledger_open(&ledger, store, MIRE_STORE_LOCK_MS)) {
        for (size_t i = 0; i < count; i++)
            drop_uncounted(store, &victims[i]);
        return;
    }
    before = ledger.dropping;
    for (size_t i = 0; i < count && ledger.dropping < MIRE_LEDGER_BATCH; i++) {
        if (is_going(&ledger, victims[i].id) || !mire__store_report_path(path, store, victims[i].id) ||
            !mire__store_report_losses(losses, path))
            continue;
        mire__drops_add(ledger.counts, losses);
        ledger.counts[victims[i].reason]++;
        memcpy(ledger.ids[ledger.dropping++], victims[i].id, MIRE_STORE_ID_LENGTH + 1);
    }
    if (ledger.dropping > before && mire__ledger_save(&ledger, store, true) == MIRE_OK) {
        atomic_fetch_add_explicit(&store->dropped_count, ledger.dropping - before, memory_order_relaxed);
        mire__ledger_finish(&ledger, store);
        mire__ledger_save(&ledger, store, false); /* if it fails, the next process finds the decision and finishes */
    } else if (ledger.dropping > before) {
        /* The disk has no room for the ledger: deleting reports makes room. */
        for (size_t i = 0; i < count; i++)
            drop_uncounted(store, &victims[i]);
    }
    mire__ledger_close(&ledger, store);
    mire__store_save_drops(store);
}

void mire__store_drop(struct store *store, const char *id, enum store_reason reason)
{
    const struct victim victim = {id, reason};

    drop_some(store, &victim, 1);
}

/* ---- caps ---- */

/* Milliseconds in a UUIDv7's first 48 bits: "0123abcd-ef01-7...". */
static uint64_t id_ms(const char *id)
{
    return (strtoull(id, NULL, 16) & 0xffffffffu) << 16 | (strtoull(id + 9, NULL, 16) & 0xffffu);
}

/* The lowest value comes first, of equal values the oldest. */
static int by_value(const void *a, const void *b)
{
    const struct store_item *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : strcmp(x->id, y->id);
}

/* Quantities with caps. */
struct sum {
    size_t count, sessions;
    uint64_t bytes;
};

enum cap { CAP_AGE, CAP_SESSIONS, CAP_ALL };

static bool is_over(const struct store_item *item, enum cap cap, const struct sum *left, const struct store *store,
                    uint64_t now_ms)
{
    const struct store_caps *caps = &store->caps;

    switch (cap) {
    case CAP_AGE:
        return id_ms(item->id) + caps->age_ms < now_ms;
    case CAP_SESSIONS:
        return item->value == MIRE_VALUE_SESSION && left->sessions > (caps->count + 1) / 2;
    case CAP_ALL:
        break;
    }
    return left->count > caps->count || left->bytes > caps->bytes;
}

/* Choose victims among items in the order of value; a chosen item loses its id. Returns the number of victims. */
static size_t choose(struct victim *victims, struct store_item *items, size_t count, const struct store *store,
                     uint64_t now_ms, const char *id)
{
    struct sum left = {.count = count};
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++) {
        left.bytes += items[i].bytes;
        left.sessions += items[i].value == MIRE_VALUE_SESSION;
    }
    for (enum cap cap = CAP_AGE; cap <= CAP_ALL; cap++)
        for (size_t i = 0; i < count; i++) {
            struct store_item *item = &items[i];

            if (!item->value || !is_over(item, cap, &left, store, now_ms) ||
                (cap == CAP_AGE && strcmp(item->id, id) == 0))
                continue;
            victims[chosen++] = (struct victim){item->id, cap == CAP_AGE ? MIRE_DROP_AGE : MIRE_DROP_FULL};
            left.bytes -= item->bytes;
            left.sessions -= item->value == MIRE_VALUE_SESSION;
            left.count--;
            item->value = 0;
        }
    return chosen;
}

void mire__store_enforce(struct store *store, const char *id, uint64_t now_ms)
{
    struct store_item *items = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    struct victim *victims = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*victims));
    size_t count = items && victims ? mire__store_list(items, MIRE_STORE_LIST_MAX, store) : 0;

    if (count > 0) {
        mire__own.qsort(items, count, sizeof(*items), by_value);
        count = choose(victims, items, count, store, now_ms, id);
    }
    for (size_t i = 0; i < count; i += MIRE_LEDGER_BATCH)
        drop_some(store, victims + i, count - i < MIRE_LEDGER_BATCH ? count - i : MIRE_LEDGER_BATCH);
    mire__free(victims);
    mire__free(items);
}
