/*
 * sites.h - the calls of the allocator in the oracle's program, one function for each.
 *
 * All are in one section, so that addresses alone identify a stack (truth.h).
 */
#ifndef MIRE_TESTS_ORACLE_SITES_H
#define MIRE_TESTS_ORACLE_SITES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORACLE_CODE __attribute__((noinline, noclone, section("oracle_code")))

/* The function that frees a block. */
enum oracle_release {
    RELEASE_FREE,
    RELEASE_DELETE,
    RELEASE_DELETE_ARRAY,
    RELEASE_DELETE_ALIGNED,
    RELEASE_DELETE_ARRAY_ALIGNED
};

/* Arguments of one call; the site returns the block. */
struct oracle_call {
    void *old; /* block to reallocate, otherwise NULL */
    size_t size;
    size_t align; /* a power of two, at least 16 */
    uint32_t site;
    uint32_t path; /* remaining steps, two bits each, the next one lowest */
};

struct oracle_site {
    const char *name;
    void *(*function)(struct oracle_call *call);
    enum oracle_release release;
    unsigned flags;
};
#define SITE_REALLOCS 1u /* accepts an old block */
#define SITE_ALIGNS   2u
#define SITE_FAILS    4u /* returns NULL and changes nothing */
#define SITE_PAGES    8u /* needs a size of whole pages */
#define SITE_NEW      16u
#define SITE_LIBC     32u /* a function of the C library calls the allocator */

extern const struct oracle_site oracle_sites[];
extern const unsigned oracle_sites_count;
#define ORACLE_PLUGINS 4u /* sites after those of the table, one for each plugin */

/* Call site `call->site` through the steps of `call->path`. */
void *oracle_step(struct oracle_call *call);
extern void *(*const oracle_steps[3])(struct oracle_call *call);

/* Free a block. */
void oracle_release(void *block, size_t size, size_t align, enum oracle_release release);

/* Sites in C++, and the function that frees their blocks (sites_new.cc). */
void *oracle_new(struct oracle_call *call);
void *oracle_new_array(struct oracle_call *call);
void *oracle_new_nothrow(struct oracle_call *call);
void *oracle_new_aligned(struct oracle_call *call);
void *oracle_new_array_aligned_nothrow(struct oracle_call *call);
void *oracle_new_fails(struct oracle_call *call);
void oracle_delete(void *block, size_t size, size_t align, enum oracle_release release);

/* The function of each plugin while it is loaded. */
extern void *(*oracle_plugins[ORACLE_PLUGINS])(size_t size);

#ifdef __cplusplus
}
#endif
#endif
