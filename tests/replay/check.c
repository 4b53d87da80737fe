/*
 * check.c - see check.h.
 */
#include "replay/check.h"

#include "exit/evidence.h"
#include "report/report.h"
#include "store/ends.h"
#include "store/inside.h"
#include "store/sending.h"
#include "ring/blackbox.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_MS 1763685200000ull

/* ---- damage, found in the files before the second start ---- */

struct bytes {
    uint8_t *at;
    size_t size;
};

static struct bytes read_whole(const char *path)
{
    struct bytes bytes = {NULL, 0};
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;

    if (!file)
        return bytes;
    bytes.at = malloc((size_t)info.st_size + 1);
    bytes.size = bytes.at ? fread(bytes.at, 1, (size_t)info.st_size, file) : 0;
    fclose(file);
    return bytes;
}

static bool is_damaged(const char *path, const char *name)
{
    struct bytes file = read_whole(path);
    struct evidence evidence;
    struct frame frame;
    uint32_t rows;
    bool damaged;

    if (mire__store_ends_with(name, ".exit"))
        damaged = mire__evidence_read(&evidence, &rows, file.at, file.size) != MIRE_OK;
    else if (mire__store_ends_with(name, ".box"))
        damaged = file.size == 0 || mire__blackbox_check((struct blackbox *)(void *)file.at, file.size) != MIRE_OK;
    else
        damaged = mire__frame_check(&frame, file.at, file.size) != FRAME_WHOLE;
    free(file.at);
    return damaged;
}

static bool is_framed(const char *name)
{
    static const char *const names[] = {"install", "drops", "stacks", "after", "rollout", "ends"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return mire__store_ends_with(name, ".report");
}

/* Returns true for a report that the ledger lists as being dropped. It counts as dropped in any state. */
static bool is_going(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct ledger ledger;
    struct frame frame;
    struct bytes file;
    bool going = false;

    snprintf(path, sizeof(path), "%s/drops", dir);
    file = read_whole(path);
    if (file.at && mire__frame_check(&frame, file.at, file.size) == FRAME_WHOLE &&
        mire__ledger_read(&ledger, (const char *)file.at + frame.body_at, frame.body_size))
        for (size_t i = 0; i < ledger.dropping; i++)
            going |= strncmp(name, ledger.ids[i], MIRE_STORE_ID_LENGTH) == 0;
    free(file.at);
    return going;
}

/* Count the damaged files in a directory of the store. */
static uint64_t count_damaged(const char *dir, const char *sub)
{
    char path[PATH_MAX], file[PATH_MAX + 256];
    uint64_t count = 0;
    DIR *open;

    snprintf(path, sizeof(path), "%s/%s", dir, sub);
    open = opendir(path);
    if (!open)
        return 0;
    for (struct dirent *entry; (entry = readdir(open));) {
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (is_framed(entry->d_name) || mire__store_ends_with(entry->d_name, ".exit") ||
            mire__store_ends_with(entry->d_name, ".box"))
            count += is_damaged(file, entry->d_name) && !is_going(dir, entry->d_name);
    }
    closedir(open);
    return count;
}

/* ---- the second start ---- */

struct state {
    struct found *found;
    struct store *store;
    const struct truth *truth;
    bool present[TRUTH_REPORTS];
    uint64_t counts[MIRE_DROP_REASONS]; /* in the ledger, in reports, and at the server */
};

static void add(uint64_t to[MIRE_DROP_REASONS], const uint64_t what[MIRE_DROP_REASONS])
{
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        to[i] += what[i];
}

static size_t find(const struct truth *truth, const char *id)
{
    size_t i = 0;

    while (i < truth->report_count && strcmp(truth->reports[i].id, id) != 0)
        i++;
    return i;
}

/* Check a report that was read as whole. */
static void look_at_report(struct state *state, const char *id, const void *body, size_t size)
{
    size_t at = find(state->truth, id);
    char expected[TRUTH_BODY_MAX], path[MIRE_STORE_PATH_MAX];
    uint64_t losses[MIRE_DROP_REASONS] = {0};
    const struct truth_report *report;

    if (mire__store_report_path(path, state->store, id))
        mire__store_report_losses(losses, path);
    if (at == state->truth->report_count) { /* made by the second start */
        add(state->counts, losses);
        return;
    }
    report = &state->truth->reports[at];
    state->present[at] = true;
    if (report->made_up && (truth_body(expected, id) != size || memcmp(body, expected, size) != 0))
        state->found->taken++;
    if (report->sent == ACKNOWLEDGED)
        state->found->sent_again++;
    if (report->sent == NOT_YET) /* otherwise it counts once, as at the server */
        add(state->counts, losses);
}

static void look_at_reports(struct state *state)
{
    static struct store_item items[MIRE_STORE_LIST_MAX];
    size_t count = mire__store_list(items, MIRE_STORE_LIST_MAX, state->store), size;
    void *body;

    for (size_t i = 0; i < count; i++)
        if (mire__store_get(&body, &size, state->store, items[i].id) == MIRE_OK) {
            look_at_report(state, items[i].id, body, size);
            free(body);
        }
    for (uint32_t i = 0; i < state->truth->report_count; i++)
        if (state->truth->reports[i].sent != NOT_YET) {
            state->present[i] = true;
            add(state->counts, state->truth->reports[i].losses);
        }
}

static void look_at_small_files(struct state *state)
{
    char etag[MIRE_STORE_ETAG_BYTES], text[64] = "", install[33] = "";
    struct store_end ends[2];
    struct store_held held;
    unsigned version = 0;

    if (mire__store_install(install, state->store) != MIRE_OK ||
        (state->truth->install[0] && strcmp(install, state->truth->install) != 0))
        state->found->installs_lost++;
    text[mire__store_rollout(etag, text, sizeof(text) - 1, state->store)] = '\0';
    if (text[0] && sscanf(text, "{\"rollout\":%u}", &version) != 1)
        state->found->taken++;
    if (version > state->truth->rollout_tried)
        state->found->taken++;
    state->found->documents_lost += version < state->truth->rollout_acknowledged;
    struct store_after after;
    mire__store_after(&after, state->store);
    mire__store_ends(ends, 2, state->store);
    mire__store_stack_send(&held, state->store, 1, NOW_MS, 10);
}

static void recover(struct store *store)
{
    const struct report_finder finder = {.now_ms = NOW_MS};

    mire__report_recover(store, &finder);
}

/* end: suffix of the names; "": all files */
static uint64_t count_files(const char *dir, const char *sub, const char *end)
{
    char path[PATH_MAX];
    uint64_t count = 0;
    DIR *open;

    snprintf(path, sizeof(path), "%s/%s", dir, sub);
    open = opendir(path);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += entry->d_name[0] != '.' && (!end[0] || mire__store_ends_with(entry->d_name, end));
    if (open)
        closedir(open);
    return count;
}

static void judge_reports(struct state *state)
{
    struct found *found = state->found;
    uint64_t acknowledged = 0, whole = 0, evicted = state->counts[MIRE_DROP_FULL], missing;

    for (uint32_t i = 0; i < state->truth->report_count; i++)
        if (state->truth->reports[i].sealed == ACKNOWLEDGED) {
            acknowledged++;
            whole += state->present[i];
        }
    missing = acknowledged - whole;
    evicted = evicted < missing ? evicted : missing;
    found->acknowledged += acknowledged;
    found->whole += whole;
    found->evicted += evicted;
    found->lost += missing - evicted;
}

/* tables: memory tables, which are also refused if they were never finished */
static void judge_counts(struct state *state, uint64_t damaged, uint64_t tables)
{
    const struct truth *truth = state->truth;
    struct found *found = state->found;
    uint64_t lost = state->counts[MIRE_DROP_REFUSED];
    uint64_t refused = state->counts[MIRE_DROP_BROKEN] + state->counts[MIRE_DROP_FORMAT];

    if (lost < truth->lost_acknowledged)
        found->losses_forgotten += truth->lost_acknowledged - lost;
    if (lost > truth->lost_tried)
        found->losses_doubled += lost - truth->lost_tried;
    found->refused += damaged;
    if (refused < damaged || refused > damaged + tables)
        found->uncounted++;
}

void check_start(struct found *found, const char *dir, const struct truth *truth)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct state state = {.found = found, .truth = truth};
    const uint64_t tables = count_files(dir, "box", ".heap");
    const uint64_t damaged = count_damaged(dir, "") + count_damaged(dir, "out") + count_damaged(dir, "box");
    uint64_t ledger[MIRE_DROP_REASONS];

    if (mire__store_open(&state.store, dir, &caps) != MIRE_OK)
        _exit(1);
    look_at_small_files(&state);
    recover(state.store);
    recover(state.store);
    look_at_reports(&state);
    mire__store_drops(ledger, state.store);
    add(state.counts, ledger);
    judge_reports(&state);
    judge_counts(&state, damaged, tables);
    recover(state.store);
    look_at_small_files(&(struct state){.found = &(struct found){0}, .store = state.store, .truth = truth});
    mire__store_list(&(struct store_item){.bytes = 0}, 1, state.store);
    found->leaks += count_files(dir, "", ".new") + count_files(dir, "out", ".new") + count_files(dir, "box", "") +
                    count_files(dir, "memory", ".new");
    mire__store_close(state.store);
    found->states++;
}
