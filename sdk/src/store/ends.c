/*
 * ends.c - the file `ends`: one line a run, the newest last,
 *
 *     <run> <told> <verdict> <confidence> <start> <seen> <pid> <process's name, to the end of the line>
 *
 * A line that cannot be read is left out.
 */
#include "store/ends.h"

#include "base/alloc.h"
#include "store/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 256

struct list {
    int lock;
    size_t count;
    struct store *store;
    struct store_end ends[MIRE_STORE_ENDS];
    char text[MIRE_STORE_ENDS * LINE_BYTES];
};

static bool read_line(struct store_end *out, const char *line)
{
    unsigned reported;
    int name_at = 0;

    memset(out, 0, sizeof(*out));
    if (sscanf(line, "%32[0-9a-f] %u %23[a-z_] %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %n", out->run, &reported,
               out->verdict, &out->confidence_ppm, &out->start_wall_ms, &out->seen_wall_ms, &out->pid, &name_at) != 7)
        return false;
    out->reported = reported != 0;
    snprintf(out->process, sizeof(out->process), "%s", line + name_at);
    return name_at > 0 && strlen(out->run) + 1 == MIRE_STORE_RUN_BYTES;
}

/* length: of the text, -1 if there is none. */
static void read_list(struct list *list, ssize_t length)
{
    char *rest = list->text;

    list->text[length > 0 ? length : 0] = '\0';
    for (char *line; list->count < MIRE_STORE_ENDS && (line = strtok_r(rest, "\n", &rest));)
        list->count += read_line(&list->ends[list->count], line);
}

static enum mire_err write_list(struct list *list)
{
    struct disk_part part = {list->text, 0};

    for (size_t i = 0; i < list->count; i++) {
        const struct store_end *end = &list->ends[i];

        part.size += (size_t)snprintf(list->text + part.size, LINE_BYTES,
                                      "%s %u %s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %s\n", end->run,
                                      end->reported, end->verdict, end->confidence_ppm, end->start_wall_ms,
                                      end->seen_wall_ms, end->pid, end->process);
    }
    return mire__store_save(list->store, "ends", &part, 1);
}

/* NULL: no memory, or the file cannot be locked. */
static struct list *open_list(struct store *store, bool lock)
{
    struct list *list = mire__calloc(1, sizeof(*list));
    enum frame_state state;
    ssize_t length;

    if (!list)
        return NULL;
    list->lock = -1;
    list->store = store;
    length = mire__store_load(store, "ends", list->text, sizeof(list->text) - 1);
    if (lock) {
        list->lock = mire__store_lock(store, MIRE_STORE_LOCK_MS);
        if (list->lock < 0) {
            mire__free(list);
            return NULL;
        }
        length = mire__store_load_locked(&state, store, "ends", list->text, sizeof(list->text) - 1);
    }
    read_list(list, length);
    return list;
}

static void close_list(struct list *list)
{
    if (list->lock >= 0)
        mire__disk_unlock(list->lock);
    mire__free(list);
}

static struct store_end *find(struct list *list, const char *run)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->ends[i].run, run) == 0)
            return &list->ends[i];
    return NULL;
}

enum mire_err mire__store_end_add(struct store *store, const struct store_end *end)
{
    struct list *list = open_list(store, true);
    enum mire_err err = MIRE_OK;

    if (!list)
        return MIRE_E_STORE;
    if (!find(list, end->run)) {
        if (list->count == MIRE_STORE_ENDS)
            memmove(&list->ends[0], &list->ends[1], --list->count * sizeof(list->ends[0]));
        list->ends[list->count++] = *end;
        err = write_list(list);
    }
    close_list(list);
    return err;
}

size_t mire__store_ends(struct store_end *out, size_t cap, struct store *store)
{
    struct list *list = open_list(store, false);
    size_t count = 0;

    if (!list)
        return 0;
    for (size_t i = list->count > cap ? list->count - cap : 0; i < list->count; i++)
        out[count++] = list->ends[i];
    close_list(list);
    return count;
}

enum mire_err mire__store_end_reported(struct store *store, const char *run)
{
    struct list *list = open_list(store, true);
    enum mire_err err = MIRE_OK;
    struct store_end *end;

    if (!list)
        return MIRE_E_STORE;
    end = find(list, run);
    if (end && !end->reported) {
        end->reported = true;
        err = write_list(list);
    }
    close_list(list);
    return err;
}
