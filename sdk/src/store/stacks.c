/*
 * stacks.c - what was sent today and what was held back, by stack, in the file `stacks`: one line a stack, the one
 * touched last at the end,
 *
 *     <stack, 16 hex digits> <day> <sent that day> <held> <ms held>
 *
 * A line that cannot be read is left out: its stack begins anew.
 */
#include "store/disk.h"
#include "store/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 104 /* 16 + 4 * 20 digits, and what separates and ends them */
#define DAY_MS     UINT64_C(86400000)

struct row {
    uint64_t stack, day, sent;
    struct store_held held;
};

struct ledger {
    int lock;
    uint32_t count;
    struct row rows[MIRE_STORE_STACKS];
    char path[MIRE_STORE_PATH_MAX];
    char text[MIRE_STORE_STACKS * LINE_BYTES];
};

static void read_rows(struct ledger *ledger)
{
    ssize_t length = mire__disk_read(ledger->text, sizeof(ledger->text) - 1, ledger->path);
    char *rest = ledger->text;

    ledger->text[length > 0 ? length : 0] = '\0';
    for (char *line; ledger->count < MIRE_STORE_STACKS && (line = strtok_r(rest, "\n", &rest));) {
        struct row row;

        if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &row.stack, &row.day, &row.sent,
                   &row.held.count, &row.held.duration_ms) == 5)
            ledger->rows[ledger->count++] = row;
    }
}

/* Read the ledger and keep others from it. NULL where that cannot be. */
static struct ledger *open_ledger(struct store *store)
{
    struct ledger *ledger = calloc(1, sizeof(*ledger));
    char lock_path[MIRE_STORE_PATH_MAX];

    if (!ledger)
        return NULL;
    ledger->lock = -1;
    if (mire__store_path(ledger->path, store, "stacks", "") && mire__store_path(lock_path, store, "lock", ""))
        ledger->lock = mire__disk_lock(lock_path);
    if (ledger->lock >= 0) {
        read_rows(ledger);
        return ledger;
    }
    free(ledger);
    return NULL;
}

static void close_ledger(struct ledger *ledger)
{
    mire__disk_unlock(ledger->lock);
    free(ledger);
}

static enum mire_err write_ledger(struct ledger *ledger)
{
    struct disk_part part = {ledger->text, 0};

    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct row *row = &ledger->rows[i];

        part.size += (size_t)snprintf(ledger->text + part.size, LINE_BYTES,
                                      "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row->stack,
                                      row->day, row->sent, row->held.count, row->held.duration_ms);
    }
    return mire__disk_write(ledger->path, &part, 1, false);
}

/* The stack's row, moved to the end; a new one if there is none, which may push out the first. */
static struct row *row_of(struct ledger *ledger, uint64_t stack, uint64_t day)
{
    struct row row = {.stack = stack, .day = day};
    uint32_t at = 0;

    while (at < ledger->count && ledger->rows[at].stack != stack)
        at++;
    if (at < ledger->count)
        row = ledger->rows[at];
    else if (ledger->count < MIRE_STORE_STACKS)
        ledger->count++;
    else
        at = 0;
    memmove(&ledger->rows[at], &ledger->rows[at + 1], (ledger->count - 1 - at) * sizeof(row));
    if (row.day != day)
        row.sent = 0;
    row.day = day;
    ledger->rows[ledger->count - 1] = row;
    return &ledger->rows[ledger->count - 1];
}

enum mire_err mire__store_stack_send(struct store_held *held_out, struct store *store, uint64_t stack, uint64_t now_ms,
                                     uint32_t cap)
{
    struct ledger *ledger = open_ledger(store);
    struct store_held held;
    enum mire_err err = MIRE_E_FULL;
    struct row *row;

    *held_out = (struct store_held){0};
    if (!ledger)
        return MIRE_E_STORE;
    row = row_of(ledger, stack, now_ms / DAY_MS);
    held = row->held;
    if (row->sent < cap) {
        row->sent++;
        row->held = (struct store_held){0};
        err = write_ledger(ledger);
    }
    if (err == MIRE_OK)
        *held_out = held;
    close_ledger(ledger);
    return err;
}

enum mire_err mire__store_stack_hold(struct store *store, uint64_t stack, uint64_t now_ms,
                                     const struct store_held *held)
{
    struct ledger *ledger = open_ledger(store);
    enum mire_err err;
    struct row *row;

    if (!ledger)
        return MIRE_E_STORE;
    row = row_of(ledger, stack, now_ms / DAY_MS);
    row->held.count += held->count;
    row->held.duration_ms += held->duration_ms;
    err = write_ledger(ledger);
    close_ledger(ledger);
    return err;
}
