/*
 * regions_apple.c - the mappings of the process, read from the kernel: nothing tells of them when they are made. Also the
 * hidden code, of the hooks and of libmalloc, which stacks leave out.
 *
 *     kernel: [ ImageIO ][ malloc ]   [ CoreAnimation ][ library's own ]
 *     tables: [ ImageIO ][ allocator ][ CoreAnimation ]
 */
#include "allochook/allochook.h"
#include "allochook/hooks.h"
#include "allochook/thread_state.h"
#include "platform/mine.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <mach-o/loader.h>
#include <malloc/malloc.h>
#include <string.h>

/* No allocator of these systems brings hooks of this kind (hooks.h). */
struct hook mire__new_hooks[MIRE_NEW_COUNT];
const size_t mire__new_hooks_count = 0;

void mire__heap_hooks_dispatch(void)
{
}

bool mire__heap_blocks_have_one_phase(void)
{
    return false;
}

/* ---- hidden code ---- */

/* As mach-o/getsect.h declares it, which only Xcode has. */
extern uint8_t *getsectiondata(const struct mach_header_64 *header, const char *segment, const char *section,
                               unsigned long *bytes_out);

extern const char hidden_start[] __asm("section$start$__TEXT$mire_hidden");
extern const char hidden_end[] __asm("section$end$__TEXT$mire_hidden");

static uint64_t malloc_start, malloc_end; /* libmalloc's code */

/* Stored before the tables are in use, so that a walk needs no look-up. */
static void find_hidden(void)
{
    Dl_info info;
    unsigned long bytes = 0;
    const uint8_t *text;

    if (malloc_end != 0 || dladdr((const void *)(uintptr_t)&malloc_default_zone, &info) == 0)
        return;
    text = getsectiondata((const struct mach_header_64 *)info.dli_fbase, SEG_TEXT, SECT_TEXT, &bytes);
    malloc_start = (uintptr_t)text;
    malloc_end = malloc_start + bytes;
}

bool mire__hooks_hold(uint64_t pc)
{
    return (pc >= (uintptr_t)hidden_start && pc < (uintptr_t)hidden_end) || (pc >= malloc_start && pc < malloc_end);
}

/* ---- regions ---- */

struct sweep {
    struct heap *heap;
    uint64_t at; /* end of the last region */
};

static enum heap_kind kind_of(const char *name)
{
    char of_kind[MIRE_CATEGORY_NAME_BYTES];

    if (name[0] == '\0')
        return MIRE_KIND_ANONYMOUS;
    if (name[0] == '/')
        return MIRE_KIND_FILE;
    if (strcmp(name, "[stack]") == 0)
        return MIRE_KIND_STACK;
    if (strcmp(name, "[heap]") == 0)
        return MIRE_KIND_ALLOCATOR;
    for (uint32_t kind = MIRE_KIND_TAGGED; kind < MIRE_HEAP_KINDS; kind++) {
        mire__category_name(of_kind, MIRE_CATEGORY_KINDS + kind);
        if (strcmp(of_kind, name) == 0)
            return (enum heap_kind)kind;
    }
    return MIRE_KIND_OTHER;
}

/* [sweep->at, start) holds nothing any more, and [start, end) a region. */
static void note(struct sweep *sweep, uint64_t start, uint64_t end, enum heap_kind kind)
{
    if (start > sweep->at)
        mire__mappings_as_unmap(sweep->heap, sweep->at, start - sweep->at);
    if (end > start)
        mire__mappings_as_renew(sweep->heap, start, end - start, kind);
    sweep->at = end;
}

static bool on_region(void *context, const struct mapping *mapping)
{
    struct sweep *sweep = context;
    enum heap_kind kind = kind_of(mapping->path);
    struct mine_span own[MIRE_MINE_MAX];
    size_t count = mire__mine_within(own, mapping->start, mapping->end);
    uint64_t start = mapping->start;

    if (!mapping->readable && !mapping->writable && !mapping->executable) /* address space, no memory */
        return true;
    for (size_t i = 0; i < count; i++) {
        if (own[i].start > start)
            note(sweep, start, own[i].start, kind);
        start = own[i].end;
    }
    if (start < mapping->end)
        note(sweep, start, mapping->end, kind);
    return true;
}

void mire__mappings_sweep(struct heap *heap)
{
    struct sweep sweep = {.heap = heap, .at = vm_page_size};

    if (mire__mappings_visit(on_region, &sweep, NULL, 0))
        note(&sweep, MIRE_HEAP_ADDRESS_MASK + 1, MIRE_HEAP_ADDRESS_MASK + 1, MIRE_KIND_OTHER);
}

void mire__existing_record(struct heap *heap, struct heap_slot *slot, char *scratch, size_t scratch_bytes)
{
    (void)scratch;
    (void)scratch_bytes;
    find_hidden();
    if (!mire__slot_as_enter(slot))
        return;
    mire__mappings_sweep(heap);
    mire__slot_as_leave(slot);
}
