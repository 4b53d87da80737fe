/*
 * run.c - opens the run's file; note.c has the code that runs in signal handlers.
 */
#include "exit/run.h"

#include "exit/note.h"
#include "platform/platform.h"

#include <string.h>
#include <unistd.h>

/* Owned by the thread that starts. Valid in the process `pid`. */
static struct {
    uint32_t pid;
    char id[MIRE_STORE_RUN_BYTES];
    char dir[MIRE_STORE_PATH_MAX];  /* the store with the evidence; "": none */
    char path[MIRE_STORE_PATH_MAX]; /* of the evidence */
} run;

const char *mire__run_id(void)
{
    if (run.pid != mire__pid()) {
        run.pid = mire__pid();
        run.dir[0] = '\0';
        mire__store_run_name(run.id);
    }
    return run.id;
}

/* Is this another start of the process, with the file in the same store? */
static bool goes_on(struct store *store, enum mire__ground ground)
{
    struct evidence *evidence = mire__run_as_evidence();

    if (!evidence || strcmp(run.dir, mire__store_dir(store)) != 0)
        return false;
    mire__run_as_note_ground(ground);
    atomic_store(&evidence->stopped_ns, 0);
    return true;
}

enum mire_err mire__run_open(struct store *store, const struct evidence_start *start, enum mire__ground ground)
{
    const char *id = mire__run_id();
    struct store_box file;
    enum mire_err err;

    if (goes_on(store, ground))
        return MIRE_OK;
    err = mire__store_box_open(&file, store, id, MIRE_STORE_EXIT, sizeof(struct evidence), sizeof(struct evidence));
    if (err != MIRE_OK)
        return err;
    mire__evidence_init(file.memory, start);
    mire__text_copy(run.dir, sizeof(run.dir), mire__store_dir(store));
    mire__text_copy(run.path, sizeof(run.path), file.path);
    mire__note_into(file.memory);
    mire__run_as_note_ground(ground);
    return MIRE_OK;
}

void mire__run_discard(void)
{
    if (run.pid != mire__pid() || !run.dir[0])
        return;
    unlink(run.path);
    run.dir[0] = '\0';
}

void mire__run_stop(void)
{
    struct evidence *evidence = mire__run_as_evidence();

    if (evidence)
        atomic_store(&evidence->stopped_ns, mire__boot_now_ns());
}
