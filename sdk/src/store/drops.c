/*
 * drops.c - the loss ledger: the file `drops`, lines of
 *
 *     <reason> <count>
 *     sealing <id>             a report is being sealed; for each reason with a count other than 0 follow
 *     loss <reason> <count>        the counts in the report
 *     replaced <reason> <count>    the counts in the report that it replaces
 *     dropping <id>            a report is being deleted
 *
 * Invariant: a loss is counted before its report is deleted, and counts leave the ledger before the report with them
 * appears. The same write adds the line of that step. A process that finds such a line checks whether the report
 * exists, and completes or undoes the step.
 */
#include "base/base.h"
#include "base/alloc.h"
#include "store/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 160

static const char *const names[MIRE_DROP_REASONS] = {
    [MIRE_DROP_FULL] = "full",       [MIRE_DROP_AGE] = "age",
    [MIRE_DROP_WRITE] = "write",     [MIRE_DROP_REFUSED] = "refused",
    [MIRE_DROP_BROKEN] = "broken",   [MIRE_DROP_BIG] = "big",
    [MIRE_DROP_SHORT] = "short",     [MIRE_DROP_SUPPRESSED] = "suppressed",
    [MIRE_DROP_DAILY] = "daily",     [MIRE_DROP_FORMAT] = "format",
    [MIRE_DROP_CONSENT] = "consent", [MIRE_DROP_FILTERED] = "filtered",
};

const char *mire__store_reason_name(enum store_reason reason)
{
    return (unsigned)reason < MIRE_DROP_REASONS ? names[reason] : "unknown";
}

/* ---- text ---- */

/* "<name> <count>". An unknown name comes from a later version and counts as MIRE_DROP_FORMAT. */
static bool read_count(uint64_t counts[MIRE_DROP_REASONS], const char *line)
{
    size_t reason = MIRE_DROP_FORMAT;
    char name[32];
    uint64_t count;

    if (sscanf(line, "%31[a-z_] %" SCNu64, name, &count) != 2)
        return false;
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        if (strcmp(name, names[i]) == 0)
            reason = i;
    counts[reason] += count;
    return true;
}

static bool read_id(char out[MIRE_STORE_ID_LENGTH + 1], const char *text)
{
    if (strlen(text) != MIRE_STORE_ID_LENGTH || strspn(text, "0123456789abcdef-") != MIRE_STORE_ID_LENGTH)
        return false;
    memcpy(out, text, MIRE_STORE_ID_LENGTH + 1);
    return true;
}

static bool read_line(struct ledger *ledger, const char *line)
{
    if (strncmp(line, "sealing ", 8) == 0)
        return ledger->sealing = read_id(ledger->id, line + 8);
    if (strncmp(line, "dropping ", 9) == 0)
        return ledger->dropping < MIRE_LEDGER_BATCH && read_id(ledger->ids[ledger->dropping], line + 9) &&
               ++ledger->dropping;
    if (strncmp(line, "loss ", 5) == 0)
        return read_count(ledger->losses, line + 5);
    if (strncmp(line, "replaced ", 9) == 0)
        return read_count(ledger->replaced, line + 9);
    return read_count(ledger->counts, line);
}

bool mire__ledger_read(struct ledger *ledger, const char *text, size_t size)
{
    size_t length;

    memset(ledger, 0, sizeof(*ledger));
    ledger->lock = -1;
    for (const char *at = text, *end = text + size; at < end; at += length + 1) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        char line[LINE_BYTES];

        length = newline ? (size_t)(newline - at) : (size_t)(end - at);
        if (length >= sizeof(line))
            return false;
        memcpy(line, at, length);
        line[length] = '\0';
        if (!read_line(ledger, line))
            return false;
    }
    return true;
}

static size_t write_counts(char *out, size_t room, const char *word, const uint64_t counts[MIRE_DROP_REASONS])
{
    size_t size = 0;

    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        if (counts[i] > 0)
            size += (size_t)snprintf(out + size, room - size, "%s%s %" PRIu64 "\n", word, names[i], counts[i]);
    return size;
}

size_t mire__ledger_write(char out[MIRE_LEDGER_TEXT], const struct ledger *ledger)
{
    const size_t room = MIRE_LEDGER_TEXT;
    size_t size = write_counts(out, room, "", ledger->counts);

    if (ledger->sealing) {
        size += (size_t)snprintf(out + size, room - size, "sealing %s\n", ledger->id);
        size += write_counts(out + size, room - size, "loss ", ledger->losses);
        size += write_counts(out + size, room - size, "replaced ", ledger->replaced);
    }
    for (size_t i = 0; i < ledger->dropping; i++)
        size += (size_t)snprintf(out + size, room - size, "dropping %s\n", ledger->ids[i]);
    return size;
}

/* ---- file ---- */

void mire__drops_add(uint64_t to[MIRE_DROP_REASONS], const uint64_t what[MIRE_DROP_REASONS])
{
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        to[i] += what[i];
}

void mire__store_keep_drops(struct store *store, const uint64_t add[MIRE_DROP_REASONS])
{
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        atomic_fetch_add_explicit(&store->unsaved[i], add[i], memory_order_relaxed);
}

static bool load(struct ledger *ledger, const struct store *store)
{
    char *text = mire__malloc(MIRE_LEDGER_TEXT);
    enum frame_state state;
    ssize_t size = text ? mire__store_load_locked(&state, store, "drops", text, MIRE_LEDGER_TEXT) : 0;

    if (!text)
        return false;
    if (!mire__ledger_read(ledger, text, size > 0 ? (size_t)size : 0) || state > FRAME_OLD) {
        /* The counts in the file are lost, which is one more loss. */
        memset(ledger, 0, sizeof(*ledger));
        ledger->counts[state == FRAME_NEWER ? MIRE_DROP_FORMAT : MIRE_DROP_BROKEN] = 1;
    }
    mire__free(text);
    return true;
}

static void finish_sealing(struct ledger *ledger, const struct store *store)
{
    uint64_t losses[MIRE_DROP_REASONS];
    char path[MIRE_STORE_PATH_MAX];
    bool sealed = mire__store_report_path(path, store, ledger->id) && mire__store_report_losses(losses, path) &&
                  memcmp(losses, ledger->losses, sizeof(losses)) == 0;

    mire__drops_add(ledger->counts, sealed ? ledger->replaced : ledger->losses);
    ledger->sealing = false;
    memset(ledger->losses, 0, sizeof(ledger->losses));
    memset(ledger->replaced, 0, sizeof(ledger->replaced));
}

/* A report that cannot be deleted stays in the list. It is counted already, and the next process tries again. */
static void finish_dropping(struct ledger *ledger, const struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    size_t left = 0;

    for (size_t i = 0; i < ledger->dropping; i++)
        if (mire__store_report_path(path, store, ledger->ids[i]) && !mire__store_remove(store, path) && errno != ENOENT)
            memmove(ledger->ids[left++], ledger->ids[i], sizeof(ledger->ids[i]));
    ledger->dropping = left;
}

void mire__ledger_finish(struct ledger *ledger, const struct store *store)
{
    if (ledger->sealing)
        finish_sealing(ledger, store);
    if (ledger->dropping > 0)
        finish_dropping(ledger, store);
}

bool mire__ledger_seal(struct ledger *ledger, const struct store_report *report,
                       const uint64_t replaced[MIRE_DROP_REASONS])
{
    for (size_t i = 0; report->losses && i < MIRE_DROP_REASONS; i++)
        if (report->losses[i] > ledger->counts[i])
            return false;
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++) {
        ledger->losses[i] = report->losses ? report->losses[i] : 0;
        ledger->counts[i] -= ledger->losses[i];
        ledger->replaced[i] = replaced[i];
    }
    mire__text_copy(ledger->id, sizeof(ledger->id), report->id);
    ledger->sealing = true;
    return true;
}

bool mire__ledger_open(struct ledger *ledger, struct store *store, uint32_t wait_ms)
{
    int lock = mire__store_lock(store, wait_ms);
    bool unfinished;

    if (lock < 0)
        return false;
    if (!load(ledger, store)) {
        mire__disk_unlock(lock);
        return false;
    }
    ledger->lock = lock;
    unfinished = ledger->sealing || ledger->dropping > 0;
    mire__ledger_finish(ledger, store);
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        ledger->taken[i] = atomic_exchange_explicit(&store->unsaved[i], 0, memory_order_relaxed);
    mire__drops_add(ledger->counts, ledger->taken);
    if (unfinished)
        mire__ledger_save(ledger, store, true);
    return true;
}

enum mire_err mire__ledger_save(struct ledger *ledger, struct store *store, bool sealed)
{
    char *text = mire__malloc(MIRE_LEDGER_TEXT);
    struct disk_part part = {text, 0};
    enum mire_err err = MIRE_E_STORE;

    if (text) {
        part.size = mire__ledger_write(text, ledger);
        err = sealed ? mire__store_save_sealed(store, "drops", &part, 1) : mire__store_save(store, "drops", &part, 1);
    }
    if (err == MIRE_OK)
        memset(ledger->taken, 0, sizeof(ledger->taken));
    mire__free(text);
    return err;
}

void mire__ledger_close(struct ledger *ledger, struct store *store)
{
    mire__store_keep_drops(store, ledger->taken);
    mire__disk_unlock(ledger->lock);
}

void mire__store_finish(struct store *store)
{
    struct ledger ledger;

    if (load(&ledger, store) && (ledger.sealing || ledger.dropping > 0) &&
        mire__ledger_open(&ledger, store, MIRE_STORE_LOCK_MS))
        mire__ledger_close(&ledger, store);
}

/* ---- interface ---- */

void mire__store_count_drop(struct store *store, enum store_reason reason)
{
    uint64_t add[MIRE_DROP_REASONS] = {0};

    add[reason] = 1;
    if (reason < MIRE_DROP_SHORT || reason > MIRE_DROP_DAILY)
        atomic_fetch_add_explicit(&store->dropped_count, 1, memory_order_relaxed);
    mire__store_keep_drops(store, add);
    mire__store_save_drops(store);
}

void mire__store_wait_in(struct store *store, _Atomic uint64_t *words)
{
    for (size_t i = 0; words && i < MIRE_DROP_REASONS; i++)
        atomic_fetch_add(&words[i], atomic_exchange(&store->unsaved[i], 0));
    store->unsaved = words ? words : store->own_unsaved;
}

void mire__store_count_drops(struct store *store, const uint64_t counts[MIRE_DROP_REASONS])
{
    mire__store_keep_drops(store, counts);
    mire__store_save_drops(store);
}

static bool is_any_unsaved(struct store *store)
{
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        if (atomic_load_explicit(&store->unsaved[i], memory_order_relaxed) > 0)
            return true;
    return false;
}

static enum mire_err save_waiting(struct store *store, uint32_t wait_ms)
{
    enum mire_err err = MIRE_E_STORE;
    struct ledger ledger;

    if (!is_any_unsaved(store))
        return MIRE_OK;
    if (!mire__ledger_open(&ledger, store, wait_ms))
        return MIRE_E_STORE;
    err = mire__ledger_save(&ledger, store, false);
    mire__ledger_close(&ledger, store);
    return err;
}

enum mire_err mire__store_save_drops(struct store *store)
{
    return save_waiting(store, MIRE_STORE_LOCK_MS);
}

void mire__store_drops(uint64_t counts[MIRE_DROP_REASONS], struct store *store)
{
    struct ledger ledger;

    memset(counts, 0, MIRE_DROP_REASONS * sizeof(counts[0]));
    mire__store_finish(store);
    if (load(&ledger, store))
        memcpy(counts, ledger.counts, sizeof(ledger.counts));
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        counts[i] += atomic_load_explicit(&store->unsaved[i], memory_order_relaxed);
}
