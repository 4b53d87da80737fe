/* note.c - notes into the evidence. Signal-safe: stores into memory that stays mapped.
 *
 * Invariant: the pointer is valid only in the process `pid`, which is stored last and checked first. A forked child
 * inherits the pointer without the mapping.
 */
#include "exit/note.h"

#include "platform/platform.h"

static _Atomic(struct evidence *) own;
static _Atomic uint32_t own_pid;

void mire__note_into(struct evidence *evidence)
{
    atomic_store(&own, evidence);
    atomic_store(&own_pid, mire__pid());
}

struct evidence *mire__run_as_evidence(void)
{
    return atomic_load(&own_pid) == mire__pid() ? atomic_load(&own) : NULL;
}

/* The same value again is no change. */
void mire__run_as_note_ground(enum mire__ground ground)
{
    struct evidence *evidence = mire__run_as_evidence();

    if (evidence && (atomic_load(&evidence->ground) & 3) != ground)
        atomic_store(&evidence->ground, mire__boot_now_ns() / 1000 << 2 | ground);
}

void mire__run_as_note_quit(enum mire_quit quit)
{
    struct evidence *evidence = mire__run_as_evidence();

    if (evidence)
        atomic_store(&evidence->quit, quit);
}
