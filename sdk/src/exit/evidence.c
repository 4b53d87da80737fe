/* evidence.c - see evidence.h. Signal-safe: arithmetic on the caller's memory only. */
#include "exit/evidence.h"

#include "exit/trail.h"
#include "ring/event.h"

#include <string.h>

void mire__evidence_init(struct evidence *evidence, const struct evidence_start *start)
{
    evidence->version = MIRE_EVIDENCE_VERSION;
    evidence->size_bytes = sizeof(*evidence);
    evidence->start = *start;
    atomic_store(&evidence->ground, MIRE_GROUND_UNKNOWN);
    atomic_thread_fence(memory_order_release);
    *(volatile uint64_t *)&evidence->magic = MIRE_EVIDENCE_MAGIC;
}

static void end_text(char *text, size_t cap_bytes)
{
    text[cap_bytes - 1] = '\0';
}

static void end_texts(struct evidence_start *start)
{
    end_text(start->boot_id, sizeof(start->boot_id));
    end_text(start->app_version, sizeof(start->app_version));
    end_text(start->app_build, sizeof(start->app_build));
    end_text(start->os_version, sizeof(start->os_version));
    end_text(start->os_build, sizeof(start->os_build));
    end_text(start->process_name, sizeof(start->process_name));
    end_text(start->cgroup.dir, sizeof(start->cgroup.dir));
}

enum mire_err mire__evidence_read(struct evidence *out, uint32_t *rows_out, const void *bytes, size_t size)
{
    const size_t least = offsetof(struct evidence, trail);
    struct trail_row trail[MIRE_TRAIL_ROWS];
    uint64_t ground;

    memset(out, 0, sizeof(*out));
    *rows_out = 0;
    if (size < least)
        return MIRE_E_FORMAT;
    memcpy(out, bytes, size < sizeof(*out) ? size : sizeof(*out));
    if (out->magic != MIRE_EVIDENCE_MAGIC || out->version != MIRE_EVIDENCE_VERSION || out->size_bytes < least ||
        out->size_bytes > size)
        return MIRE_E_FORMAT;
    if (out->size_bytes < sizeof(*out))
        memset((char *)out + out->size_bytes, 0, sizeof(*out) - out->size_bytes);
    end_texts(&out->start);
    ground = atomic_load(&out->ground);
    if ((ground & 3) > MIRE_GROUND_UNKNOWN)
        atomic_store(&out->ground, (ground & ~UINT64_C(3)) | MIRE_GROUND_UNKNOWN);
    if (atomic_load(&out->left) > MIRE_LEFT_ABORT)
        atomic_store(&out->left, MIRE_LEFT_NOT);
    if (atomic_load(&out->quit) > MIRE_QUIT_SESSION)
        atomic_store(&out->quit, MIRE_QUIT_NOT);
    *rows_out = mire__trail_copy(trail, out);
    end_text(out->session, sizeof(out->session));
    memset(out->trail, 0, sizeof(out->trail));
    memcpy(out->trail, trail, *rows_out * sizeof(trail[0]));
    return MIRE_OK;
}
