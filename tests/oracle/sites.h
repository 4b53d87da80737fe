/*
 * sites.h - the places from which the oracle's program calls the allocator, one function each.
 *
 * All lie in one section, so that a stack can be told by addresses alone (truth.h).
 */
#ifndef MIRE_TESTS_ORACLE_SITES_H
#define MIRE_TESTS_ORACLE_SITES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORACLE_CODE __attribute__((noinline, noclone, section("oracle_code")))

/* What has to take a block back. */
enum oracle_release {
    RELEASE_FREE,
    RELEASE_DELETE,
    RELEASE_DELETE_ARRAY,
    RELEASE_DELETE_ALIGNED,
    RELEASE_DELETE_ARRAY_ALIGNED
};

/* One call: in, what is wanted; the result is the function's. */
struct oracle_call {
    void *old; /* of realloc and its kin, NULL otherwise */
    size_t size;
    size_t align; /* a power of two, 16 at least */
    uint32_t site;
    uint32_t path; /* steps still to go, two bits each, the next one lowest */
};

struct oracle_site {
    const char *name;
    void *(*function)(struct oracle_call *call);
    enum oracle_release release;
    unsigned flags;
};
#define SITE_REALLOCS 1u /* may be given an old block */
#define SITE_ALIGNS   2u
#define SITE_FAILS    4u /* returns NULL and changes nothing */
#define SITE_PAGES    8u /* wants a size of whole pages */
#define SITE_NEW      16u
#define SITE_LIBC     32u /* the C library calls the allocator, within a function of its own */

extern const struct oracle_site oracle_sites[];
extern const unsigned oracle_sites_count;
#define ORACLE_PLUGINS 4u /* sites behind those of the table, in plugin N */

/* Calls site `call->site` by way of `call->path`. */
void *oracle_step(struct oracle_call *call);
extern void *(*const oracle_steps[3])(struct oracle_call *call);

/* Gives a block back. */
void oracle_release(void *block, size_t size, size_t align, enum oracle_release release);

/* Sites in C++, and what takes their blocks back (sites_new.cc). */
void *oracle_new(struct oracle_call *call);
void *oracle_new_array(struct oracle_call *call);
void *oracle_new_nothrow(struct oracle_call *call);
void *oracle_new_aligned(struct oracle_call *call);
void *oracle_new_array_aligned_nothrow(struct oracle_call *call);
void *oracle_new_fails(struct oracle_call *call);
void oracle_delete(void *block, size_t size, size_t align, enum oracle_release release);

/* The function of plugin N while it is loaded. */
extern void *(*oracle_plugins[ORACLE_PLUGINS])(size_t size);

#ifdef __cplusplus
}
#endif
#endif
