/* own.c - see own.h. */
#include "platform/own.h"

#include "platform/mine.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SHARE_NS (10 * MIRE_NS_PER_MS) /* far longer than the few instructions that take a lock */

#define PROGRAMS                                                                 \
    {                                                                            \
        malloc, realloc, free, opendir, readdir, closedir, qsort, pthread_create \
    }

struct own_calls mire__own = PROGRAMS;

bool mire__thread_attributes(pthread_attr_t *out, size_t stack_bytes)
{
    size_t given = 0;

    if (pthread_attr_init(out) != 0)
        return false;
    if (pthread_attr_getstacksize(out, &given) != 0 || given < stack_bytes)
        pthread_attr_setstacksize(out, stack_bytes);
    return true;
}

int pthread_tryjoin_np(pthread_t thread, void **result) __attribute__((weak)); /* bionic has none */

bool mire__own_has_joined(pthread_t thread)
{
    return pthread_tryjoin_np && pthread_tryjoin_np(thread, NULL) == 0;
}

void mire__thread_call_self(const char *name)
{
    pthread_setname_np(pthread_self(), name); /* on the thread itself: from outside it needs a file */
}

/* The program's, or ours. (Asked for one that is not there dlsym makes a text that says so.) */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

bool mire__own_is_sanitized(void)
{
    return __asan_init || __tsan_init;
}

#ifdef __GLIBC__
#include <gnu/libc-version.h>

/* Threads made by any copy are known to all since then. */
#define OLDEST "2.34"

/* The loader keeps room for thread-local storage of three more C libraries (glibc.rtld.nns); beyond, it is the
 * program's. */
#define COPIES_MAX 3

static struct {
    void *handle;         /* of the namespace; NULL: there is none */
    struct link_map *map; /* its modules never change */
    _Atomic char *single; /* the program's copy: it has one thread, so it takes no locks */
    uint32_t pid;
    uint32_t copies;  /* in the process, those of its parents too */
    pthread_t opener; /* a thread of the program's */
} second;

/* The C library's own byte: the program's executable may have a copy. */
static _Atomic char *find_single(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); /* never unloaded: the handle only counts */

    return libc ? (_Atomic char *)dlsym(libc, "__libc_single_threaded") : NULL;
}

static bool find_calls(struct own_calls *out, void *handle)
{
    static const char *const names[] = {"malloc",  "realloc",  "free",  "opendir",
                                        "readdir", "closedir", "qsort", "pthread_create"};
    void *found[MIRE_COUNT(names)];

    _Static_assert(sizeof(found) == sizeof(*out), "a name for each call");
    for (size_t i = 0; i < MIRE_COUNT(names); i++) {
        found[i] = dlsym(handle, names[i]);
        if (!found[i])
            return false;
    }
    memcpy(out, found, sizeof(*out));
    return true;
}

/* The read-only parts of a library, in front of its first writable one. */
static void rest(const struct link_map *map)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;
    const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(map->l_addr + head->e_phoff);
    uintptr_t end = map->l_addr;

    for (size_t i = 0; i < head->e_phnum && !(parts[i].p_type == PT_LOAD && parts[i].p_flags & PF_W); i++)
        if (parts[i].p_type == PT_LOAD)
            end = map->l_addr + parts[i].p_vaddr + parts[i].p_filesz;
    madvise((void *)map->l_addr, end - map->l_addr, MADV_DONTNEED);
}

/* Its addresses are the library's own. */
static void claim(const struct link_map *map)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;
    const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(map->l_addr + head->e_phoff);
    size_t bytes = 0;

    for (size_t i = 0; i < head->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > bytes)
            bytes = parts[i].p_vaddr + parts[i].p_memsz;
    mire__mine_add(head, bytes);
}

static void claim_all(void)
{
    static char here;
    struct link_map *own = NULL;
    Dl_info info;

    for (const struct link_map *map = second.map; map; map = map->l_next)
        if (map->l_addr != _r_debug.r_ldbase)
            claim(map);
    if (dladdr1(&here, &info, (void **)&own, RTLD_DL_LINKMAP) != 0 && own && own->l_addr)
        claim(own);
}

/* The loader is among them, and is the program's too. */
void mire__own_rest(void)
{
    for (const struct link_map *map = second.handle ? second.map : NULL; map; map = map->l_next)
        if (map->l_addr != _r_debug.r_ldbase)
            rest(map);
}

/* malloc/arena.c of glibc: a thread's arena begins at a multiple of its bytes, and the word before a block tells. */
void mire__own_claim_arena(void)
{
    const uintptr_t arena_bytes = (uintptr_t)64 << 20, not_first = 4;
    size_t *block = second.handle ? mire__own.malloc(16) : NULL;

    if (block && block[-1] & not_first)
        mire__mine_add((void *)((uintptr_t)block & ~(arena_bytes - 1)), arena_bytes);
    if (block)
        mire__own.free(block);
}

static bool is_wanted(void)
{
    const char *setting = getenv("MIRE_SECOND_LIBC");

    return !(setting && strcmp(setting, "0") == 0) && strverscmp(gnu_get_libc_version(), OLDEST) >= 0 &&
           !mire__own_is_sanitized();
}

bool mire__own_open(const char *library)
{
    struct own_calls calls;
    void *handle;

    if (second.handle && second.pid == mire__pid())
        return true;
    second.handle = NULL;
    mire__own = (struct own_calls)PROGRAMS;
    second.single = second.copies < COPIES_MAX && is_wanted() ? find_single() : NULL;
    if (!second.single || !atomic_load(second.single))
        return false;
    handle = dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
    if (!handle)
        return false;
    if (!find_calls(&calls, handle)) {
        dlclose(handle);
        return false;
    }
    if (dlinfo(handle, RTLD_DI_LINKMAP, &second.map) != 0)
        second.map = NULL;
    claim_all();
    mire__own = calls;
    second.copies++;
    second.pid = mire__pid();
    second.opener = pthread_self();
    second.handle = handle;
    return true;
}

void *mire__own_find(const char *name)
{
    return second.handle ? dlsym(second.handle, name) : NULL;
}

bool mire__own_is_beside(void)
{
    return second.handle && atomic_load_explicit(second.single, memory_order_relaxed) &&
           !pthread_equal(pthread_self(), second.opener);
}

void mire__own_share(void)
{
    _Atomic uint32_t never = 0;

    if (!mire__own_is_beside())
        return;
    atomic_store(second.single, 0);
    mire__barrier_all();
    mire__futex_wait(&never, 0, mire__now_ns() + SHARE_NS);
}

static void *do_nothing(void *context)
{
    return context;
}

bool mire__own_meet(void)
{
    sigset_t all, before;
    pthread_t thread;
    int failed;

    if (!second.handle || second.pid != mire__pid() || !atomic_load(second.single))
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return false;
    pthread_join(thread, NULL);
    return true;
}

#endif
