/*
 * slots.c - see slots.h. One list of mappings tells the protection of many slots, and most slots share few pages.
 */
#include "patch/slots.h"

#include "platform/platform.h"

#include <sys/mman.h>
#include <unistd.h>

static bool look_at_mapping(void *context, const struct mapping *mapping)
{
    struct slot_stores *stores = context;

    for (size_t i = 0; mapping->writable && i < stores->count; i++) {
        uintptr_t slot = (uintptr_t)stores->all[i].slot;

        stores->all[i].writable |= slot >= mapping->start && slot < mapping->end;
    }
    return true;
}

void mire__slots_store_all(struct slot_stores *stores)
{
    static char scratch[8192];
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);

    /* False after chroot: then the pages stay writable, because they may hold the program's data. */
    bool known = true;

    if (stores->count > 0)
        known = mire__mappings_visit(look_at_mapping, stores, scratch, sizeof(scratch));
    for (size_t i = 0, next; i < stores->count; i = next) {
        const uintptr_t page = (uintptr_t)stores->all[i].slot & ~(page_bytes - 1);
        const bool writable = stores->all[i].writable;
        const bool opened = writable || mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) == 0;

        for (next = i; next < stores->count && (uintptr_t)stores->all[next].slot - page < page_bytes; next++)
            if (opened)
                atomic_store(stores->all[next].slot, stores->all[next].value);
        if (opened && !writable && known)
            mprotect((void *)page, page_bytes, PROT_READ);
    }
    stores->count = 0;
}

void mire__slot_store(struct slot_stores *stores, _Atomic(void *) *slot, void *value)
{
    size_t at;

    if (stores->count == MIRE_SLOTS_AT_ONCE)
        mire__slots_store_all(stores);
    for (at = stores->count++; at > 0 && stores->all[at - 1].slot > slot; at--)
        stores->all[at] = stores->all[at - 1];
    stores->all[at] = (struct slot_store){.slot = slot, .value = value};
}
