/*
 * stacks.c - reports of today and suppressed events by stack: the file `stacks` has one line a stack, the latest used
 * at the end,
 *
 *     <stack, 16 hex digits> <day> <reports of that day> <suppressed> <their duration, ms>
 *
 * A line that cannot be read is left out, and its stack counts from 0.
 */
#include "store/inside.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 104 /* 16 + 4 * 20 digits, separators, newline */
#define DAY_MS     UINT64_C(86400000)

struct stack_row {
    uint64_t stack, day, sent;
    struct store_held held;
};

struct stacks {
    int lock;
    uint32_t count;
    struct store *store;
    struct stack_row rows[MIRE_STORE_STACKS];
    char text[MIRE_STORE_STACKS * LINE_BYTES];
};

/* length: of the text, -1 if there is none. */
static void read_rows(struct stacks *stacks, ssize_t length)
{
    char *rest = stacks->text;

    stacks->text[length > 0 ? length : 0] = '\0';
    for (char *line; stacks->count < MIRE_STORE_STACKS && (line = strtok_r(rest, "\n", &rest));) {
        struct stack_row row;

        if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &row.stack, &row.day, &row.sent,
                   &row.held.count, &row.held.duration_ms) == 5)
            stacks->rows[stacks->count++] = row;
    }
}

/* Lock and read the file. NULL: no memory, or the file is locked. */
static struct stacks *open_stacks(struct store *store)
{
    struct stacks *stacks = mire__calloc(1, sizeof(*stacks));
    enum frame_state state;

    if (!stacks)
        return NULL;
    stacks->store = store;
    mire__store_load(store, "stacks", stacks->text, sizeof(stacks->text) - 1); /* deletes a damaged file */
    stacks->lock = mire__store_lock(store, MIRE_STORE_LOCK_MS);
    if (stacks->lock >= 0) {
        read_rows(stacks, mire__store_load_locked(&state, store, "stacks", stacks->text, sizeof(stacks->text) - 1));
        return stacks;
    }
    mire__free(stacks);
    return NULL;
}

static void close_stacks(struct stacks *stacks)
{
    mire__disk_unlock(stacks->lock);
    mire__free(stacks);
}

static enum mire_err write_stacks(struct stacks *stacks)
{
    struct disk_part part = {stacks->text, 0};

    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct stack_row *row = &stacks->rows[i];

        part.size += (size_t)snprintf(stacks->text + part.size, LINE_BYTES,
                                      "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row->stack,
                                      row->day, row->sent, row->held.count, row->held.duration_ms);
    }
    return mire__store_save(stacks->store, "stacks", &part, 1);
}

/* Move the stack's row to the end and return it. A new row may displace the first one. */
static struct stack_row *row_of(struct stacks *stacks, uint64_t stack, uint64_t day)
{
    struct stack_row row = {.stack = stack, .day = day};
    uint32_t at = 0;

    while (at < stacks->count && stacks->rows[at].stack != stack)
        at++;
    if (at < stacks->count)
        row = stacks->rows[at];
    else if (stacks->count < MIRE_STORE_STACKS)
        stacks->count++;
    else
        at = 0;
    memmove(&stacks->rows[at], &stacks->rows[at + 1], (stacks->count - 1 - at) * sizeof(row));
    if (row.day != day)
        row.sent = 0;
    row.day = day;
    stacks->rows[stacks->count - 1] = row;
    return &stacks->rows[stacks->count - 1];
}

enum mire_err mire__store_stack_send(struct store_held *held_out, struct store *store, uint64_t stack, uint64_t now_ms,
                                     uint32_t cap)
{
    struct stacks *stacks = open_stacks(store);
    struct store_held held;
    enum mire_err err = MIRE_E_FULL;
    struct stack_row *row;

    *held_out = (struct store_held){0};
    if (!stacks)
        return MIRE_E_STORE;
    row = row_of(stacks, stack, now_ms / DAY_MS);
    held = row->held;
    if (row->sent < cap) {
        row->sent++;
        row->held = (struct store_held){0};
        err = write_stacks(stacks);
    }
    if (err == MIRE_OK)
        *held_out = held;
    close_stacks(stacks);
    return err;
}

enum mire_err mire__store_stack_hold(struct store *store, uint64_t stack, uint64_t now_ms,
                                     const struct store_held *held)
{
    struct stacks *stacks = open_stacks(store);
    enum mire_err err;
    struct stack_row *row;

    if (!stacks)
        return MIRE_E_STORE;
    row = row_of(stacks, stack, now_ms / DAY_MS);
    row->held.count += held->count;
    row->held.duration_ms += held->duration_ms;
    err = write_stacks(stacks);
    close_stacks(stacks);
    return err;
}
