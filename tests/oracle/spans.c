/*
 * spans.c - calls of the mmap family, page by page: see script.h.
 */
#include "oracle/script.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define SPANS_EACH (TRUTH_SPANS / TRUTH_WORKERS_MAX)

ORACLE_CODE void *oracle_mmap(size_t bytes, int flags, int file)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);

    __asm__ volatile("" ::: "memory");
    return at;
}

ORACLE_CODE void *oracle_mmap_fixed(void *where, size_t bytes, int flags)
{
    void *at = mmap(where, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);

    __asm__ volatile("" ::: "memory");
    return at;
}

ORACLE_CODE void *oracle_mremap(void *old, size_t old_bytes, size_t bytes)
{
    void *at = mremap(old, old_bytes, bytes, MREMAP_MAYMOVE);

    __asm__ volatile("" ::: "memory");
    return at;
}

ORACLE_CODE int oracle_mprotect(void *where, size_t bytes)
{
    int answer = mprotect(where, bytes, PROT_READ | PROT_WRITE);

    __asm__ volatile("" ::: "memory");
    return answer;
}

static struct truth_pages *begin(struct truth_span *span, uint32_t index)
{
    span->pages[!index] = span->pages[index];
    return &span->pages[!index];
}

static void mark(struct truth_pages *pages, uint32_t from, uint32_t count, uint32_t stack)
{
    for (uint32_t i = from; i < from + count; i++)
        pages->stack[i] = stack;
}

static void map_new(struct worker *worker, struct truth_span *span, uint32_t index)
{
    static const int flags[] = {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE};
    uint32_t count = 1 + script_below(worker, TRUTH_SPAN_PAGES), kind = script_below(worker, 3);
    struct truth_pages *will = begin(span, index);
    void *at;

    memset(will, 0, sizeof(*will));
    will->kind = kind;
    mark(will, 0, count, SITE_MMAP);
    atomic_store(&span->state, TRUTH_CALLING | index);
    at = oracle_mmap((size_t)count * TRUTH_PAGE_BYTES, flags[kind], kind == TRUTH_FILE ? worker->file : -1);
    if (at == MAP_FAILED)
        script_complain(worker->truth, "mmap failed");
    will->address = (uintptr_t)at;
    atomic_store(&span->state, TRUTH_IDLE | !index);
}

/* Unmap pages in the middle or at an end, or all; some may be unmapped already. */
static void unmap(struct worker *worker, struct truth_span *span, uint32_t index)
{
    uint32_t from = script_below(worker, TRUTH_SPAN_PAGES), count = 1 + script_below(worker, TRUTH_SPAN_PAGES - from);
    struct truth_pages *will = begin(span, index);
    bool any = false;

    if (script_below(worker, 2))
        from = 0, count = TRUTH_SPAN_PAGES;
    /* Pages after the mapped ones may belong to another mapping. */
    while (count > 0 && will->stack[from + count - 1] == 0)
        count--;
    while (count > 0 && will->stack[from] == 0)
        from++, count--;
    for (uint32_t i = from; i < from + count; i++)
        if (will->stack[i] == 0)
            return;
    if (count == 0)
        return;
    mark(will, from, count, 0);
    for (uint32_t i = 0; i < TRUTH_SPAN_PAGES; i++)
        any |= will->stack[i] != 0;
    atomic_store(&span->state, TRUTH_CALLING | index);
    if (munmap((void *)(will->address + (uint64_t)from * TRUTH_PAGE_BYTES), (size_t)count * TRUTH_PAGE_BYTES) != 0)
        script_complain(worker->truth, "munmap failed");
    if (!any)
        will->address = 0;
    atomic_store(&span->state, TRUTH_IDLE | !index);
}

/* The number of leading pages that are mapped without a gap by one call. */
static uint32_t leading(const struct truth_pages *pages)
{
    uint32_t count = 0;

    while (count < TRUTH_SPAN_PAGES && pages->stack[count] != 0 && pages->stack[count] == pages->stack[0])
        count++;
    return count;
}

static void remap(struct worker *worker, struct truth_span *span, uint32_t index)
{
    uint32_t count = leading(&span->pages[index]), wanted = 1 + script_below(worker, TRUTH_SPAN_PAGES);
    struct truth_pages *will = begin(span, index);
    void *old = (void *)will->address, *at;

    for (uint32_t i = count; i < TRUTH_SPAN_PAGES; i++)
        if (will->stack[i] != 0)
            return;
    if (count == 0 || will->kind != TRUTH_ANONYMOUS)
        return;
    mark(will, 0, TRUTH_SPAN_PAGES, 0);
    mark(will, 0, wanted, wanted > count ? SITE_MREMAP : span->pages[index].stack[0]); /* growth is mremap's */
    will->address = 0; /* may move; an emulator moves even a shrinking one */
    atomic_store(&span->state, TRUTH_CALLING | index);
    at = oracle_mremap(old, (size_t)count * TRUTH_PAGE_BYTES, (size_t)wanted * TRUTH_PAGE_BYTES);
    if (at == MAP_FAILED && errno == EFAULT) { /* after a fork the kernel may have kept two adjacent mappings */
        atomic_store(&span->state, TRUTH_IDLE | index);
        return;
    }
    if (at == MAP_FAILED)
        script_complain(worker->truth, "mremap failed");
    will->address = (uintptr_t)at;
    atomic_store(&span->state, TRUTH_IDLE | !index);
}

static void replace(struct worker *worker, struct truth_span *span, uint32_t index)
{
    uint32_t count = leading(&span->pages[index]), from;
    struct truth_pages *will = begin(span, index);
    char *where;

    if (count == 0 || will->kind == TRUTH_FILE)
        return;
    from = script_below(worker, count);
    count = 1 + script_below(worker, count - from);
    mark(will, from, count, SITE_MMAP_FIXED);
    where = (char *)will->address + (size_t)from * TRUTH_PAGE_BYTES;
    atomic_store(&span->state, TRUTH_CALLING | index);
    if (oracle_mmap_fixed(where, (size_t)count * TRUTH_PAGE_BYTES,
                          MAP_ANONYMOUS | (will->kind == TRUTH_SHARED ? MAP_SHARED : MAP_PRIVATE)) != where)
        script_complain(worker->truth, "mmap failed to replace pages");
    atomic_store(&span->state, TRUTH_IDLE | !index);
}

/* Reserve addresses in place of some pages, then make them accessible. */
static void commit(struct worker *worker, struct truth_span *span, uint32_t index)
{
    uint32_t count = leading(&span->pages[index]), from;
    struct truth_pages *will = begin(span, index);
    size_t bytes;
    char *where;

    if (count == 0 || will->kind != TRUTH_ANONYMOUS)
        return;
    from = script_below(worker, count);
    count = 1 + script_below(worker, count - from);
    mark(will, from, count, SITE_MPROTECT);
    where = (char *)will->address + (size_t)from * TRUTH_PAGE_BYTES;
    bytes = (size_t)count * TRUTH_PAGE_BYTES;
    atomic_store(&span->state, TRUTH_CALLING | index);
    if (mmap(where, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != where ||
        oracle_mprotect(where, bytes) != 0)
        script_complain(worker->truth, "addresses were not given memory");
    atomic_store(&span->state, TRUTH_IDLE | !index);
}

void script_map(struct worker *worker)
{
    struct truth_span *span = &worker->truth->spans[worker->number * SPANS_EACH + script_below(worker, SPANS_EACH)];
    uint32_t index = atomic_load(&span->state) & 1, doing = script_below(worker, 10);

    if (span->pages[index].address == 0)
        map_new(worker, span, index);
    else if (doing < 4)
        unmap(worker, span, index);
    else if (doing < 6)
        remap(worker, span, index);
    else if (doing < 8)
        replace(worker, span, index);
    else
        commit(worker, span, index);
    atomic_fetch_add_explicit(&worker->truth->calls, 1, memory_order_relaxed);
}
