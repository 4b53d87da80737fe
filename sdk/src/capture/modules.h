/*
 * modules.h - which code lies where, learnt from /proc/self/maps and from the modules' own headers in memory.
 *
 * Never from the loader: a hung thread may hold its lock. Everything is read as memory that may vanish at any time.
 * Thread: check thread. Memory is the caller's.
 */
#ifndef MIRE_CAPTURE_MODULES_H
#define MIRE_CAPTURE_MODULES_H

#include "capture/cfi.h"
#include "capture/peek.h"
#include "ring/blackbox.h"

struct module {
    uint64_t start, end;           /* all of it */
    uint64_t text_start, text_end; /* what can be executed */
    uint64_t load;                 /* load bias */
    uint64_t eh_frame_hdr;         /* address, 0 if it has none */
};

struct modules {
    uint32_t count;
    struct module list[MIRE_IMAGES_MAX]; /* by address; code without a file is here too, with start == text_start */
    uint64_t read_ns;                    /* when the list was read */
    uint64_t signature;                  /* of the list, so that a change is noticed */
    struct peek_cache cache;
    struct cfi_cache rows;
    char scratch[16 * 1024];
};

/*
 * Read the list anew, and add to the box those images that it does not have yet. What is cached stays if the list is
 * as it was.
 *   box  may be NULL
 */
void mire__modules_read(struct modules *modules, struct blackbox *box);

/* The module whose code holds `pc`, NULL if none. */
const struct module *mire__modules_find(const struct modules *modules, uint64_t pc);

#endif
