/*
 * sites.c - see sites.h.
 */
#include "oracle/sites.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define HUGE (SIZE_MAX / 2 + 1)
/* Keep the frame during the call: prevents a tail call. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

void *(*oracle_plugins[ORACLE_PLUGINS])(size_t size);

#define SITE(name, expression)                                     \
    ORACLE_CODE static void *site_##name(struct oracle_call *call) \
    {                                                              \
        void *block = (expression);                                \
        KEEP_FRAME();                                              \
        (void)call;                                                \
        return block;                                              \
    }

static size_t opaque(size_t size) /* hides a size that the compiler would reject as too large */
{
    __asm__ volatile("" : "+r"(size));
    return size;
}

SITE(malloc, malloc(call->size))
SITE(malloc_again, malloc(call->size))
SITE(calloc, calloc(1, call->size))
SITE(calloc_many, calloc(call->size, 1))
SITE(realloc, realloc(call->old, call->size))
SITE(reallocarray, reallocarray(call->old, call->size, 1))
SITE(aligned_alloc, aligned_alloc(call->align, call->size))
SITE(memalign, memalign(call->align, call->size))
SITE(valloc, valloc(call->size))
SITE(pvalloc, pvalloc(call->size))
SITE(malloc_fails, malloc(opaque(HUGE)))
SITE(calloc_fails, calloc(opaque(HUGE), 4))
SITE(realloc_fails, realloc(call->old, opaque(HUGE)))
SITE(reallocarray_fails, reallocarray(call->old, opaque(HUGE), 8))
SITE(aligned_fails, aligned_alloc(call->align, opaque(HUGE)))

ORACLE_CODE static void *site_posix_memalign(struct oracle_call *call)
{
    void *block = NULL;
    int err = posix_memalign(&block, call->align, call->size);

    return err == 0 ? block : NULL;
}

ORACLE_CODE static void *site_posix_memalign_fails(struct oracle_call *call)
{
    void *block = NULL;
    int err = posix_memalign(&block, call->align + 1, call->size); /* no power of two */

    return err == EINVAL ? block : call;
}

/* A text for strdup and strndup that needs call->size bytes; a size that does not fit is changed. */
static const char *text_of(struct oracle_call *call)
{
    static const char text[] = "................................................................";

    if (call->size < 1 || call->size > sizeof(text))
        call->size = 1 + call->size % sizeof(text);
    return text + sizeof(text) - call->size;
}

/* A sanitizer replaces strdup without calling malloc. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define strdup(text)     memcpy(malloc(call->size), text, call->size)
#define strndup(text, n) memcpy(malloc(call->size), text, call->size)
#endif
SITE(strdup, strdup(text_of(call)))
SITE(strndup, strndup(text_of(call), 65))

const struct oracle_site oracle_sites[] = {
    {"malloc", site_malloc, RELEASE_FREE, 0},
    {"malloc again", site_malloc_again, RELEASE_FREE, 0},
    {"calloc", site_calloc, RELEASE_FREE, 0},
    {"calloc of many", site_calloc_many, RELEASE_FREE, 0},
    {"realloc", site_realloc, RELEASE_FREE, SITE_REALLOCS},
    {"reallocarray", site_reallocarray, RELEASE_FREE, SITE_REALLOCS},
    {"aligned_alloc", site_aligned_alloc, RELEASE_FREE, SITE_ALIGNS},
    {"posix_memalign", site_posix_memalign, RELEASE_FREE, SITE_ALIGNS},
    {"memalign", site_memalign, RELEASE_FREE, SITE_ALIGNS},
    {"valloc", site_valloc, RELEASE_FREE, 0},
    {"pvalloc", site_pvalloc, RELEASE_FREE, SITE_PAGES},
    {"strdup", site_strdup, RELEASE_FREE, SITE_LIBC},
    {"strndup", site_strndup, RELEASE_FREE, SITE_LIBC},
    {"operator new", oracle_new, RELEASE_DELETE, SITE_NEW},
    {"operator new[]", oracle_new_array, RELEASE_DELETE_ARRAY, SITE_NEW},
    {"operator new, nothrow", oracle_new_nothrow, RELEASE_DELETE, SITE_NEW},
    {"operator new, aligned", oracle_new_aligned, RELEASE_DELETE_ALIGNED, SITE_NEW | SITE_ALIGNS},
    {"operator new[], aligned, nothrow", oracle_new_array_aligned_nothrow, RELEASE_DELETE_ARRAY_ALIGNED,
     SITE_NEW | SITE_ALIGNS},
    {"malloc that fails", site_malloc_fails, RELEASE_FREE, SITE_FAILS},
    {"calloc that overflows", site_calloc_fails, RELEASE_FREE, SITE_FAILS},
    {"realloc that fails", site_realloc_fails, RELEASE_FREE, SITE_FAILS | SITE_REALLOCS},
    {"reallocarray that overflows", site_reallocarray_fails, RELEASE_FREE, SITE_FAILS | SITE_REALLOCS},
    {"aligned_alloc that fails", site_aligned_fails, RELEASE_FREE, SITE_FAILS | SITE_ALIGNS},
    {"posix_memalign that refuses", site_posix_memalign_fails, RELEASE_FREE, SITE_FAILS | SITE_ALIGNS},
    {"operator new that fails", oracle_new_fails, RELEASE_DELETE, SITE_FAILS},
};
const unsigned oracle_sites_count = sizeof(oracle_sites) / sizeof(oracle_sites[0]);

static inline void *go_on(struct oracle_call *call)
{
    if (call->path != 0)
        return oracle_step(call);
    if (call->site >= oracle_sites_count)
        return oracle_plugins[call->site - oracle_sites_count](call->size);
    return oracle_sites[call->site].function(call);
}

/* Three steps with different frames: small, large, and with a size known only at run time. */
ORACLE_CODE static void *step_plain(struct oracle_call *call)
{
    void *block = go_on(call);

    KEEP_FRAME();
    return block;
}

ORACLE_CODE static void *step_large(struct oracle_call *call)
{
    char volatile room[700];
    void *block;

    room[call->site & 15] = 1;
    block = go_on(call);
    return room[call->site & 15] ? block : NULL;
}

ORACLE_CODE static void *step_varying(struct oracle_call *call)
{
    char volatile *room = __builtin_alloca(16 + (call->size & 127));
    void *block;

    room[3] = 1;
    block = go_on(call);
    room[1] = 2;
    return block;
}

void *(*const oracle_steps[3])(struct oracle_call *call) = {step_plain, step_large, step_varying};

/* May become a tail call; a walk must cope with either form. */
void *oracle_step(struct oracle_call *call)
{
    unsigned step = (call->path & 3) - 1;

    call->path >>= 2;
    return oracle_steps[step](call);
}

void oracle_release(void *block, size_t size, size_t align, enum oracle_release release)
{
    if (release == RELEASE_FREE)
        free(block);
    else
        oracle_delete(block, size, align, release);
}
