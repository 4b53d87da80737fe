/*
 * fold.c - sessions in the store: add, end, report, drop. See session.h.
 */
#include "report/session.h"

#include "base/alloc.h"
#include "exit/verdict.h"
#include "platform/platform.h"
#include "rollout/rollout.h"

#include <string.h>

#define WAITING_MAX 32u /* sessions that wait for a document */

/* False: no valid session. */
static bool load(struct session_sum *out, const struct store *store, const char *name)
{
    return mire__store_session_load(out, sizeof(*out), store, name) == MIRE_OK && out->size == sizeof(*out);
}

static bool is_one(const struct session_sum *sum)
{
    return sum->processes > 0 && (!sum->service || sum->loop);
}

/* The caller holds the lock. sum: room for the session. */
static enum mire_err fold(struct session_sum *sum, struct store *store, const char *name,
                          const struct session_sum *share, bool apart)
{
    bool found = load(sum, store, name);

    if (!found && apart) {
        mire__session_new(sum, &share->facts, share->begin_ns, share->begin_wall_ms);
        sum->apart = found = true;
    }
    if (!found || sum->waits)
        return MIRE_E_STATE;
    mire__session_add(sum, share);
    return mire__store_session_save(store, name, sum, sizeof(*sum));
}

enum mire_err mire__session_fold(struct store *store, const char *name, const struct session_sum *share, bool apart)
{
    struct session_sum *sum = mire__malloc(sizeof(*sum)); /* the stack is the program's at exit */
    int lock = sum ? mire__store_sessions_lock(store) : -1;
    enum mire_err err = MIRE_E_STORE;

    if (lock >= 0) {
        err = fold(sum, store, name, share, apart);
        mire__store_sessions_unlock(lock);
    }
    mire__free(sum);
    return err;
}

void mire__session_keep(struct store *store, const char *name, const struct session_runner *runner)
{
    int lock = mire__store_sessions_lock(store);
    struct session_sum sum;

    if (lock < 0)
        return;
    if (load(&sum, store, name)) {
        if (runner->runner_pid) {
            sum.runner_pid = runner->runner_pid;
            sum.runner_ticks = runner->runner_ticks;
        }
        if (runner->first_pid) {
            sum.first_pid = runner->first_pid;
            sum.first_ticks = runner->first_ticks;
        }
        mire__store_session_save(store, name, &sum, sizeof(sum));
    }
    mire__store_sessions_unlock(lock);
}

bool mire__session_goes_on(const struct store *store, const char *name)
{
    struct session_sum sum;

    return load(&sum, store, name) ? !sum.waits : mire__store_session_is_there(store, name);
}

static uint32_t rank_of(const struct session_sum *sum, const struct store_end *end, uint32_t pid, uint64_t start_ticks)
{
    static const enum mire__end deaths[] = {MIRE_EXIT_ABORT, MIRE_EXIT_CRASH, MIRE_EXIT_WATCHDOG_KILL, MIRE_EXIT_FOOM};

    for (uint32_t i = 0; i < MIRE_COUNT(deaths); i++)
        if (strcmp(end->verdict, mire__verdict_name(deaths[i])) == 0)
            return i + 2;
    return pid == sum->first_pid && start_ticks == sum->first_ticks;
}

void mire__session_note_end(struct store *store, const char *name, const struct store_end *end, uint32_t pid,
                            uint64_t start_ticks)
{
    int lock = mire__store_sessions_lock(store);
    struct session_sum sum;
    uint32_t rank;

    if (lock < 0)
        return;
    if (load(&sum, store, name) && !sum.waits && (rank = rank_of(&sum, end, pid, start_ticks)) > 0 &&
        (rank > sum.end_rank || (rank == sum.end_rank && end->start_wall_ms > sum.end.start_wall_ms))) {
        sum.end = *end;
        sum.end_rank = rank;
        mire__store_session_save(store, name, &sum, sizeof(sum));
    }
    mire__store_sessions_unlock(lock);
}

/* Decide by the current document. ppm_out: share of installations with sessions on. */
static enum mire__session_on wanted(uint32_t *ppm_out, struct store *store, const char *install)
{
    struct rollout *rollout = mire__malloc(sizeof(*rollout));
    char etag[MIRE_STORE_ETAG_BYTES], *text = mire__malloc(MIRE_WIRE_ROLLOUT_MAX);
    size_t size = rollout && text ? mire__store_rollout(etag, text, MIRE_WIRE_ROLLOUT_MAX, store) : 0;
    enum mire__session_on on = MIRE_SESSION_MAYBE;

    *ppm_out = 0;
    if (size > 0 && mire__rollout_read(rollout, text, size) == MIRE_OK)
        on = mire__rollout_decide(ppm_out, rollout, MIRE_PLUGIN_SESSION, install, 0) ? MIRE_SESSION_YES
                                                                                     : MIRE_SESSION_NO;
    mire__free(text);
    mire__free(rollout);
    return on;
}

static enum mire_err wait_with(struct store *store, const char *name, struct session_sum *sum)
{
    sum->waits = 1;
    return mire__store_session_save(store, name, sum, sizeof(*sum));
}

enum mire_err mire__session_settle(struct store *store, const char *name, struct session_sum *sum, uint64_t now_ms)
{
    bool waited = sum->waits != 0;
    enum mire_err err = MIRE_OK;
    uint32_t ppm;
    enum mire__session_on on = wanted(&ppm, store, sum->facts.install);

    if (on == MIRE_SESSION_MAYBE)
        return waited ? MIRE_OK : wait_with(store, name, sum);
    sum->waits = 0;
    if (on == MIRE_SESSION_YES) {
        atomic_store(&sum->facts.sampling_ppm[MIRE_PLUGIN_SESSION], ppm);
        err = mire__session_seal(store, sum, now_ms);
    }
    if (err == MIRE_E_STORE || err == MIRE_E_MEMORY) {
        wait_with(store, name, sum);
        return err;
    }
    mire__store_session_forget(store, name);
    return err;
}

/* ---- boxes of a session ---- */

struct liveness {
    const char *name;
    bool lives;
};

static bool is_of(const struct blackbox *box, size_t size, const char *name)
{
    return mire__blackbox_check(box, size) == MIRE_OK && strncmp(box->session.of, name, sizeof(box->session.of)) == 0;
}

static bool look_at_box(void *context, const void *memory, size_t size, bool lives)
{
    struct liveness *liveness = context;

    liveness->lives = lives && is_of(memory, size, liveness->name);
    return !liveness->lives;
}

static bool goes_on(const struct store *store, const char *name, const struct session_sum *sum, const char *boot_id)
{
    struct liveness liveness = {.name = name};

    if (strncmp(boot_id, sum->facts.boot_id, 36) != 0)
        return false;
    if (sum->runner_pid && mire__process_runs(sum->runner_pid, sum->runner_ticks))
        return true;
    mire__store_visit_boxes(store, look_at_box, &liveness);
    return liveness.lives;
}

struct session_ending {
    const char *name;
    struct session_sum *sum;
    bool stays; /* live processes belong to the next session */
    bool left;
};

/* Add the counts of a living process. Its open hang no longer belongs to the session. */
static bool add_box(void *context, const void *memory, size_t size, bool lives)
{
    struct session_ending *ending = context;
    const struct blackbox *box = memory;
    struct session_sum share;

    if (!is_of(box, size, ending->name))
        return true;
    ending->left |= !lives;
    if (!lives || ending->stays)
        return true;
    mire__session_of_box(&share, box, ending->sum->end_ns, true);
    mire__session_add(ending->sum, &share);
    return true;
}

enum mire_err mire__session_finish(struct store *store, const char *name, const struct session_sum *next,
                                   uint64_t end_ns, uint64_t now_ms)
{
    int lock = mire__store_sessions_lock(store);
    char waits[MIRE_STORE_RUN_BYTES];
    struct session_sum sum;
    struct session_ending ending = {.name = name, .sum = &sum, .stays = next != NULL};
    bool found;

    if (lock < 0)
        return MIRE_E_STORE;
    found = load(&sum, store, name) && !sum.waits;
    if (found) {
        sum.end_ns = end_ns;
        sum.over = !next || next->part == 0;
        mire__store_visit_boxes(store, add_box, &ending);
    }
    if (found && ending.left)
        mire__store_session_save(store, name, &sum, sizeof(sum));
    else if (found && next)
        mire__store_session_save(store, name, next, sizeof(*next));
    else if (found)
        mire__store_session_forget(store, name);
    mire__store_sessions_unlock(lock);
    if (!found || ending.left || !is_one(&sum))
        return found && ending.left ? MIRE_E_STORE : MIRE_E_STATE;
    mire__store_run_name(waits);
    return mire__session_settle(store, waits, &sum, now_ms);
}

/* ---- sessions of ended processes ---- */

struct waiting {
    uint64_t begin_wall_ms;
    const char *name;
};

/* Insert into the list of the newest sessions, in the order of their begins. Returns the dropped entry; NULL: none. */
static const char *keep_newest(struct waiting list[WAITING_MAX], size_t *count, uint64_t begin_wall_ms,
                               const char *name)
{
    size_t oldest = 0;
    const char *gone;

    if (*count < WAITING_MAX) {
        list[(*count)++] = (struct waiting){begin_wall_ms, name};
        return NULL;
    }
    for (size_t i = 1; i < *count; i++)
        if (list[i].begin_wall_ms < list[oldest].begin_wall_ms)
            oldest = i;
    if (list[oldest].begin_wall_ms >= begin_wall_ms)
        return name;
    gone = list[oldest].name;
    list[oldest] = (struct waiting){begin_wall_ms, name};
    return gone;
}

/* Returns true if the session stays, waiting for a document. */
static bool recover_one(struct store *store, const char *name, struct session_sum *sum, uint64_t now_ms,
                        const char *boot_id)
{
    if (!load(sum, store, name)) {
        mire__store_session_forget(store, name);
        return false;
    }
    if (!sum->waits && goes_on(store, name, sum, boot_id))
        return false;
    if (!is_one(sum) || sum->begin_wall_ms + mire__store_age_ms(store) < now_ms) {
        mire__store_session_forget(store, name);
        return false;
    }
    if (!sum->waits)
        sum->over = 1;
    mire__session_settle(store, name, sum, now_ms);
    return sum->waits;
}

void mire__sessions_recover(struct store *store, const char *keep, uint64_t now_ms)
{
    char(*names)[MIRE_STORE_RUN_BYTES] = mire__malloc(MIRE_STORE_SESSIONS * sizeof(*names));
    size_t count = names ? mire__store_session_list(names, store) : 0, waiting = 0;
    struct waiting list[WAITING_MAX];
    struct session_sum sum;
    char boot_id[40];

    if (mire__file_read(boot_id, sizeof(boot_id), "/proc/sys/kernel/random/boot_id") < 36)
        boot_id[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *gone = NULL;

        if ((!keep || strcmp(keep, names[i]) != 0) && recover_one(store, names[i], &sum, now_ms, boot_id))
            gone = keep_newest(list, &waiting, sum.begin_wall_ms, names[i]);
        if (gone)
            mire__store_session_forget(store, gone);
    }
    mire__free(names);
}
