/*
 * slots.h - stores to slots of modules, whose pages may be read-only. Private to patch/.
 *
 * A table that the loader made read-only (RELRO) is made writable for the store and read-only again. A writable table stays
 * writable: the loader may still write to it. Thread: inside dl_iterate_phdr, so that no module with a slot is unloaded.
 */
#ifndef MIRE_PATCH_SLOTS_H
#define MIRE_PATCH_SLOTS_H

#include "base/base.h"

#include <stdatomic.h>

#define MIRE_SLOTS_AT_ONCE 64u

/* Slots to store to, by rising address. Zeros: none. */
struct slot_stores {
    struct slot_store {
        _Atomic(void *) *slot;
        void *value;
        bool writable;
    } all[MIRE_SLOTS_AT_ONCE];
    size_t count;
};

/* Note a store; if there is no room, make those that were noted before. */
void mire__slot_store(struct slot_stores *stores, _Atomic(void *) *slot, void *value);

/* Make the stores that were noted. */
void mire__slots_store_all(struct slot_stores *stores);

#endif
