/* existing.c - mappings from before the run: files, the first stack, the break. Signal-safe.
 *
 * Nobody knows which calls made them: their stack is the empty one. The SDK's own are left out.
 */
#include "allochook/allochook.h"
#include "allochook/hooks.h"
#include "allochook/thread_state.h"
#include "heap/heap.h"
#include "platform/platform.h"

#include <string.h>

struct finding {
    struct heap *heap;
    struct span ours[MIRE_THREADS_SPANS];
    size_t ours_count;
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), bytes = strlen(suffix);

    return length >= bytes && strcmp(path + length - bytes, suffix) == 0;
}

static bool begins_with(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

static enum heap_kind kind_of(const struct mapping *mapping)
{
    const char *path = mapping->path;

    if (path[0] == '\0')
        return MIRE_KIND_ANONYMOUS;
    if (strcmp(path, "[stack]") == 0)
        return MIRE_KIND_STACK;
    if (strcmp(path, "[heap]") == 0)
        return MIRE_KIND_BRK;
    if (begins_with(path, "/dev/shm/") || begins_with(path, "/memfd:") || begins_with(path, "/SYSV"))
        return MIRE_KIND_SHARED;
    if (begins_with(path, "/dev/") && strcmp(path, "/dev/zero") != 0)
        return MIRE_KIND_DEVICE;
    return path[0] == '/' ? MIRE_KIND_FILE : MIRE_KIND_OTHER;
}

/* Record those parts of [start, end) that are not the SDK's. */
static void note(const struct finding *finding, uint64_t start, uint64_t end, enum heap_kind kind)
{
    for (size_t i = 0; i < finding->ours_count && start < end; i++) {
        const struct span *ours = &finding->ours[i];

        if (ours->end <= start || ours->start >= end)
            continue;
        if (ours->start > start)
            note(finding, start, ours->start, kind);
        start = ours->end;
    }
    if (start < end)
        mire__mappings_as_map(finding->heap, start, end - start, kind, 0);
}

static bool find(void *context, const struct mapping *mapping)
{
    static const char *const files[] = {".box", ".heap", ".exit"};
    bool empty = !mapping->readable && !mapping->writable && !mapping->executable; /* address space, no memory */
    bool ours = false;

    for (size_t i = 0; i < MIRE_COUNT(files); i++)
        ours |= mapping->path[0] == '/' && ends_with(mapping->path, files[i]);
    if (!ours && !empty && strcmp(mapping->path, "[vsyscall]") != 0)
        note(context, mapping->start, mapping->end, kind_of(mapping));
    return true;
}

void mire__existing_record(struct heap *heap, struct heap_slot *slot, char *scratch, size_t scratch_bytes)
{
    struct finding finding = {.heap = heap};

    if (!mire__slot_as_enter(slot))
        return;
    finding.ours_count = mire__threads_spans(finding.ours);
    finding.ours[finding.ours_count++] =
        (struct span){(uintptr_t)heap->anonymous, (uintptr_t)heap->anonymous + heap->anonymous_bytes};
    finding.ours[finding.ours_count++] =
        (struct span){(uintptr_t)heap->filter, (uintptr_t)heap->filter + MIRE_HEAP_FILTER};
    mire__mappings_visit(find, &finding, scratch, scratch_bytes);
    mire__slot_as_leave(slot);
}

void mire__mappings_sweep(struct heap *heap)
{
    (void)heap;
}

/* The linker tells where the hidden code is; nowhere, where no hook is linked. */
extern const char __start_mire_hidden[] __attribute__((visibility("hidden"), weak));
extern const char __stop_mire_hidden[] __attribute__((visibility("hidden"), weak));

bool mire__hooks_hold(uint64_t pc)
{
    return pc >= (uintptr_t)__start_mire_hidden && pc < (uintptr_t)__stop_mire_hidden;
}
