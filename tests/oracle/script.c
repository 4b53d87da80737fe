/*
 * script.c - turns on slots: see script.h and truth.h.
 */
#include "oracle/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERRNO_KEPT 4321 /* no error has this number */

uint32_t script_below(struct worker *worker, uint32_t bound)
{
    uint64_t x = worker->draw += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((x ^ x >> 31) >> 32) % bound;
}

void script_complain(struct truth *truth, const char *what)
{
    snprintf(truth->complaint, sizeof(truth->complaint), "%s", what);
    _exit(99);
}

/* Mostly small sizes, as in real programs; rarely a size above 32 bits. */
static size_t draw_size(struct worker *worker)
{
    uint32_t kind = script_below(worker, 1000);

    if (kind < 450)
        return script_below(worker, 65);
    if (kind < 850)
        return script_below(worker, 1024);
    if (kind < 985)
        return script_below(worker, 65536);
    if (kind < 999)
        return script_below(worker, 3u << 20);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return script_below(worker, 1u << 20); /* a sanitizer's work grows with the size */
#else
    return ((size_t)4 << 30) + script_below(worker, 1u << 20);
#endif
}

static void draw_call(struct worker *worker, uint32_t site)
{
    struct oracle_call *call = &worker->call;
    uint32_t steps = 1 + script_below(worker, TRUTH_STEPS_MAX);
    unsigned flags = site < oracle_sites_count ? oracle_sites[site].flags : 0;

    memset(call, 0, sizeof(*call));
    call->site = site;
    call->size = draw_size(worker);
    call->align = (size_t)16 << script_below(worker, 6);
    if (flags & SITE_PAGES)
        call->size = (1 + call->size % 16) * TRUTH_PAGE_BYTES;
    if (flags & SITE_ALIGNS)
        call->size = (call->size + call->align - 1) & ~(call->align - 1); /* aligned_alloc may insist on a multiple */
    if ((flags & SITE_ALIGNS) && script_below(worker, 2))
        call->size -= call->size % call->align;
    if ((flags & SITE_NEW) && call->size == 0) /* operator new asks malloc for 1 byte */
        call->size = 1;
    if ((flags & SITE_NEW) && (flags & SITE_ALIGNS))
        call->size = (call->size + call->align - 1) / call->align * call->align;
    for (uint32_t i = 0; i < steps; i++)
        call->path = TRUTH_STEP(call->path, script_below(worker, 3));
}

/* The stack in the form of truth.h: the path backwards, since its first step is the outermost. */
/* 0 if the stack contains code without call frame information, as musl's. */
static uint32_t stack_of(const struct oracle_call *call)
{
    uint32_t stack = 0;

#ifndef __GLIBC__
    if (call->site < oracle_sites_count && oracle_sites[call->site].flags & SITE_LIBC)
        return 0;
#endif
    for (uint32_t path = call->path; path != 0; path >>= 2)
        stack = stack << 2 | (path & 3);
    return stack << 8 | call->site;
}

static struct truth_slot *claim(struct worker *worker, uint32_t *index_out)
{
    for (;;) {
        struct truth_slot *slot = &worker->truth->slots[script_below(worker, worker->truth->slots_count)];
        uint32_t index = atomic_load(&slot->state) & 1, idle = TRUTH_IDLE | index;

        if (atomic_compare_exchange_strong(&slot->state, &idle, TRUTH_CLAIMED | index)) {
            *index_out = index;
            return slot;
        }
    }
}

static void end(struct truth_slot *slot, uint32_t index)
{
    atomic_store(&slot->state, TRUTH_IDLE | index);
}

/* From here on the call may have happened. `will` is the state of the slot after it. */
static struct truth_block *begin(struct truth_slot *slot, uint32_t index, struct truth_block will)
{
    slot->blocks[!index] = will;
    atomic_store(&slot->state, TRUTH_CALLING | index);
    errno = ERRNO_KEPT;
    return &slot->blocks[!index];
}

static void check(struct worker *worker, const struct truth_block *will, bool got, unsigned flags)
{
    if ((flags & SITE_FAILS) && got)
        script_complain(worker->truth, "a call that must fail gave a block");
    if (got && errno != ERRNO_KEPT && will->size < 1u << 16) /* a large block may take several attempts */
        script_complain(worker->truth, "errno changed by a call that did its work");
    if (!got && !(flags & SITE_FAILS) && will->size < 1u << 20)
        script_complain(worker->truth, "a call gave no block");
    if (!got && strcmp(oracle_sites[worker->call.site].name, "malloc that fails") == 0 && errno != ENOMEM)
        script_complain(worker->truth, "malloc failed without ENOMEM");
}

/* glibc frees the block; musl returns another one of no bytes. */
static void realloc_to_nothing(struct worker *worker, void *old)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): the test is that it frees the block */
    void *block = realloc(old, 0);

#ifdef __GLIBC__
    if (block)
        script_complain(worker->truth, "realloc to nothing gave a block");
#else
    if (!block)
        script_complain(worker->truth, "realloc to nothing gave no block");
#endif
    free(block);
}

static void release(struct truth_slot *slot, uint32_t index, struct worker *worker)
{
    struct truth_block *old = &slot->blocks[index];

    begin(slot, index, (struct truth_block){0});
    if (old->release == RELEASE_FREE && script_below(worker, 16) == 0) {
        realloc_to_nothing(worker, (void *)old->address);
    } else {
        oracle_release((void *)old->address, old->size, 16, (enum oracle_release)old->release);
    }
    if (errno != ERRNO_KEPT)
        script_complain(worker->truth, "errno changed by free");
    end(slot, !index);
}

static void allocate(struct truth_slot *slot, uint32_t index, struct worker *worker)
{
    struct oracle_call *call = &worker->call;
    const struct oracle_site *site = &oracle_sites[call->site < oracle_sites_count ? call->site : 0];
    struct truth_block *old = &slot->blocks[index],
                       will = {.size = call->size, .stack = stack_of(call), .release = site->release};
    uint32_t path = call->path;
    struct truth_block *now;
    void *block;

    call->old = (void *)old->address;
    if (strncmp(site->name, "str", 3) == 0)
        call->size = will.size = 1 + call->size % 60;
    if (call->old && call->size == 0)
        call->size = will.size = 1;
    if (site->flags & SITE_FAILS)
        will = *old, will.address = 0; /* the old stack and size */
    now = begin(slot, index, will);
    block = oracle_step(call);
    call->path = path;
    check(worker, &will, block != NULL, site->flags);
    if (!block) {
        end(slot, index);
        return;
    }
    now->address = (uintptr_t)block;
    if (now->size > 0)
        *(volatile char *)block = 1;
    end(slot, !index);
}

void script_turn_at(struct worker *worker, uint32_t site)
{
    unsigned flags = site < oracle_sites_count ? oracle_sites[site].flags : 0;
    uint32_t index;
    struct truth_slot *slot = claim(worker, &index);
    const struct truth_block *old = &slot->blocks[index];

    draw_call(worker, site);
    if (old->address == 0 || ((flags & SITE_REALLOCS) && old->release == RELEASE_FREE))
        allocate(slot, index, worker);
    else
        release(slot, index, worker);
    atomic_fetch_add_explicit(&worker->truth->calls, 1, memory_order_relaxed);
}

void script_turn(struct worker *worker)
{
    script_turn_at(worker, script_below(worker, oracle_sites_count));
}
