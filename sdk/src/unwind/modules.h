/*
 * modules.h - which code lies where, learnt from /proc/self/maps and from the modules' own headers in memory.
 *
 * Never from the loader: a hung thread may hold its lock. Everything is read as memory that may vanish at any time.
 * Thread: one at a time. Memory is the caller's. Signal-safe.
 */
#ifndef MIRE_UNWIND_MODULES_H
#define MIRE_UNWIND_MODULES_H

#include "unwind/cfi.h"
#include "unwind/peek.h"

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

/* What is to be known of a module besides: for whoever keeps a list. */
struct module_facts {
    const char *path; /* borrowed until the visitor returns; "[vdso]" is one; "" where the code has no file */
    uint32_t id_size; /* bytes of id, 0 if it has none */
    uint8_t id[MIRE_BUILD_ID_MAX];
};
typedef void mire__module_fn(void *context, const struct module *module, const struct module_facts *facts);

/*
 * Read the list anew. What is cached stays if the list is as it was.
 *   visit  is called with every module; may be NULL
 */
void mire__modules_read(struct modules *modules, mire__module_fn *visit, void *context);

/* The module whose code holds `pc`, NULL if none. */
const struct module *mire__modules_find(const struct modules *modules, uint64_t pc);

#endif
