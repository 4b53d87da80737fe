/*
 * modules.h - which code lies where, learnt from /proc/self/maps and from the modules' own headers in memory.
 *
 * Never from the loader: a hung thread may hold its lock. Everything is read as memory that may vanish at any time.
 * Thread: check thread. Memory is the caller's.
 */
#ifndef MIRE_CAPTURE_MODULES_H
#define MIRE_CAPTURE_MODULES_H

#include "base/base.h"
#include "ring/blackbox.h"

#define MIRE_PEEK_PAGES      128
#define MIRE_PEEK_PAGE_BYTES 4096

/* Pages of module memory read lately. They never change while their module stays. */
struct peek_cache {
    uint64_t address[MIRE_PEEK_PAGES]; /* 0: empty */
    uint8_t bytes[MIRE_PEEK_PAGES][MIRE_PEEK_PAGE_BYTES];
};

/* Read module memory. False if any of it is not there. */
bool mire__peek_cached(void *out, struct peek_cache *cache, uint64_t address, size_t size_bytes);

struct module {
    uint64_t start, end;           /* all of it */
    uint64_t text_start, text_end; /* what can be executed */
    uint64_t load;                 /* load bias */
    uint64_t eh_frame_hdr;         /* address, 0 if it has none */
};

struct modules {
    uint32_t count;
    struct module list[MIRE_IMAGES_MAX]; /* by address; code without a file is here too, with start == text_start */
    struct peek_cache cache;
    char scratch[16 * 1024];
};

/*
 * Read the list anew, and add to the box those images that it does not have yet.
 *   box  may be NULL
 */
void mire__modules_read(struct modules *modules, struct blackbox *box);

/* The module whose code holds `pc`, NULL if none. */
const struct module *mire__modules_find(const struct modules *modules, uint64_t pc);

#endif
