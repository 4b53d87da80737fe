/* mmap.c - see hooks.h: mappings, the break, and modules that go. Signal-safe where the calls are. */
#include "allochook/hooks.h"

#include "allochook/call_site.h"
#include "heap/heap.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE_BYTES  4096ull /* the smallest; mappings are recorded in whole pages */
#define TMPFS_MAGIC 0x01021994

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* The kind of a mapping, by its flags and its file. */
static enum heap_kind kind_of(int flags, int fd)
{
    bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    struct statfs where;
    struct stat info;

    if (flags & MAP_ANONYMOUS) {
        if (flags & MAP_STACK)
            return MIRE_KIND_STACK;
        return shared ? MIRE_KIND_SHARED : MIRE_KIND_ANONYMOUS;
    }
    if (syscall(SYS_fstat, fd, &info) != 0)
        return MIRE_KIND_OTHER;
    if (S_ISCHR(info.st_mode))
        return MIRE_KIND_DEVICE;
    if (shared && syscall(SYS_fstatfs, fd, &where) == 0 && where.f_type == TMPFS_MAGIC)
        return MIRE_KIND_SHARED;
    return MIRE_KIND_FILE;
}

/* The thread's state around a real call. nested: an allocator calls, from within a hook's real call */
static struct collect_thread *enter(bool *nested, const struct self_frame *site)
{
    struct collect_thread *self = mire__collect_as_enter(site->sp);
    struct collect_thread *own = mire__locals_as_own()->collect;

    *nested = !self && mire__collect_as_on() && own && mire__collect_has_slot(own);
    return *nested ? own : self;
}

static void leave(struct collect_thread *self, bool nested)
{
    if (self && !nested)
        mire__collect_as_return(self);
}

static void note_map(struct collect_thread *self, const struct self_frame *site, const void *at, size_t size,
                     enum heap_kind kind)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    mire__mappings_as_map(heap, (uintptr_t)at, whole_pages(size), kind, mire__collect_as_node(self, heap, site));
    mire__collect_as_close(self);
}

static void note_unmap(struct collect_thread *self, const void *at, size_t size)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    mire__mappings_as_unmap(heap, (uintptr_t)at, whole_pages(size));
    mire__collect_as_close(self);
}

/* Address space that may get memory by mprotect. */
static void note_reserve(struct collect_thread *self, const void *at, size_t size)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    mire__mappings_as_map(heap, (uintptr_t)at, whole_pages(size), MIRE_KIND_RESERVED, 0);
    mire__collect_as_close(self);
}

/* Can mprotect give it memory of its own later? */
static bool is_reserve(int protection, int flags)
{
    return protection == PROT_NONE && (flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE;
}

static void note_commit(struct collect_thread *self, const struct self_frame *site, const void *at, size_t size,
                        enum heap_kind kind)
{
    struct heap *heap = mire__collect_as_open(self);

    if (!heap)
        return;
    if (mire__mappings_as_is_reserved(heap, (uintptr_t)at, whole_pages(size)))
        mire__mappings_as_commit(heap, (uintptr_t)at, whole_pages(size), kind, mire__collect_as_node(self, heap, site));
    mire__collect_as_close(self);
}

/* ---- mmap, munmap, mremap, mprotect ---- */

MIRE_SLOW static void *mmap_slow(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    const struct self_frame site = MIRE_CALL_SITE;
    bool nested;
    struct collect_thread *self = enter(&nested, &site);
    void *done = MIRE_REAL(mmap)(at, size, protection, flags, fd, offset);
    int saved = errno;

    leave(self, nested);
    if (self && done != MAP_FAILED && is_reserve(protection, flags))
        note_reserve(self, done, size);
    else if (self && done != MAP_FAILED && protection == PROT_NONE)
        note_unmap(self, done, size);
    else if (self && done != MAP_FAILED)
        note_map(self, &site, done, size, nested ? MIRE_KIND_ALLOCATOR : kind_of(flags, fd));
    errno = saved;
    return done;
}

MIRE_HIDDEN void *mire__heap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) = MIRE_REAL(mmap);

    if (__builtin_expect(!real, 0)) /* not bound yet */
        return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    if (!mire__collect_as_on())
        return real(at, size, protection, flags, fd, offset);
    return mmap_slow(at, size, protection, flags, fd, offset);
}

MIRE_HIDDEN void *mire__heap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mire__heap_mmap(at, size, protection, flags, fd, offset);
}

MIRE_SLOW static int munmap_slow(void *at, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    bool nested;
    struct collect_thread *self = enter(&nested, &site);
    int answer;

    if (self && size > 0 && (uintptr_t)at % PAGE_BYTES == 0)
        note_unmap(self, at, size);
    answer = MIRE_REAL(munmap)(at, size);
    leave(self, nested);
    return answer;
}

MIRE_HIDDEN int mire__heap_munmap(void *at, size_t size)
{
    int (*real)(void *, size_t) = MIRE_REAL(munmap);

    if (__builtin_expect(!real, 0))
        return (int)syscall(SYS_munmap, at, size);
    return mire__collect_as_on() ? munmap_slow(at, size) : real(at, size);
}

/* The old mapping ends before the real call: another thread may get its addresses before the call returns. */
static void take_region(struct mapping_was *was, struct collect_thread *self, const void *old, size_t size)
{
    struct heap *heap = self ? mire__collect_as_open(self) : NULL;

    was->known = false;
    if (!heap)
        return;
    mire__mappings_as_take(was, heap, (uintptr_t)old, whole_pages(size));
    mire__collect_as_close(self);
}

MIRE_SLOW static void *mremap_slow(void *old, size_t old_size, size_t size, int flags, void *at)
{
    const struct self_frame site = MIRE_CALL_SITE;
    bool nested;
    struct collect_thread *self = enter(&nested, &site);
    struct mapping_was was;
    struct heap *heap;
    bool failed;
    void *done;

    take_region(&was, self, old, old_size);
    done = MIRE_REAL(mremap)(old, old_size, size, flags, at);
    failed = done == MAP_FAILED;
    leave(self, nested);
    if (!self || (failed && !was.known) || !(heap = mire__collect_as_open(self)))
        return done;
    if (!was.known)
        was.kind = MIRE_KIND_ANONYMOUS;
    if (!failed && (size > old_size || !was.known)) /* the call that made it grow owns it */
        was.node = mire__collect_as_node(self, heap, &site);
    mire__mappings_as_map(heap, (uintptr_t)(failed ? old : done), whole_pages(failed ? old_size : size), was.kind,
                          was.node);
    mire__collect_as_close(self);
    return done;
}

MIRE_HIDDEN void *mire__heap_mremap(void *old, size_t old_size, size_t size, int flags, void *at)
{
    void *(*real)(void *, size_t, size_t, int, void *) = MIRE_REAL(mremap);

    if (__builtin_expect(!real, 0))
        return (void *)syscall(SYS_mremap, old, old_size, size, flags, at);
    return mire__collect_as_on() ? mremap_slow(old, old_size, size, flags, at) : real(old, old_size, size, flags, at);
}

/* PROT_NONE is passed on: a mapping keeps the memory that it has. */
MIRE_SLOW static int mprotect_slow(void *at, size_t size, int protection)
{
    const struct self_frame site = MIRE_CALL_SITE;
    bool nested;
    struct collect_thread *self = enter(&nested, &site);
    int answer = MIRE_REAL(mprotect)(at, size, protection);

    leave(self, nested);
    if (self && answer == 0)
        note_commit(self, &site, at, size, nested ? MIRE_KIND_ALLOCATOR : MIRE_KIND_ANONYMOUS);
    return answer;
}

MIRE_HIDDEN int mire__heap_mprotect(void *at, size_t size, int protection)
{
    int (*real)(void *, size_t, int) = MIRE_REAL(mprotect);

    if (__builtin_expect(!real, 0))
        return (int)syscall(SYS_mprotect, at, size, protection);
    return mire__collect_as_on() && protection != PROT_NONE ? mprotect_slow(at, size, protection)
                                                            : real(at, size, protection);
}

/* ---- the break ---- */

static uint64_t where_break_is(void)
{
    return whole_pages((uint64_t)syscall(SYS_brk, 0));
}

static void note_break(struct collect_thread *self, const struct self_frame *site, uint64_t was, uint64_t now)
{
    if (now > was)
        note_map(self, site, (const void *)(uintptr_t)was, now - was, MIRE_KIND_BRK);
    else if (now < was)
        note_unmap(self, (const void *)(uintptr_t)now, was - now);
}

/* clang-format off */
#define DEFINE_BREAK(result, name, type, argument, failed)                          \
    MIRE_SLOW static result name##_slow(type argument)                              \
    {                                                                               \
        const struct self_frame site = MIRE_CALL_SITE;                               \
        uint64_t was = where_break_is();                                            \
        bool nested;                                                                \
        struct collect_thread *self = enter(&nested, &site);                        \
        result answer = MIRE_REAL(name)(argument);                                       \
                                                                                    \
        leave(self, nested);                                                        \
        if (self && answer != (failed))                                             \
            note_break(self, &site, was, where_break_is());                         \
        return answer;                                                              \
    }                                                                               \
    MIRE_HIDDEN result mire__heap_##name(type argument)                             \
    {                                                                               \
        result (*real)(type) = MIRE_REAL(name);                                          \
                                                                                    \
        if (__builtin_expect(!real, 0)) {                                           \
            errno = ENOMEM;                                                         \
            return failed;                                                          \
        }                                                                           \
        return mire__collect_as_on() ? name##_slow(argument) : real(argument);      \
    }
DEFINE_BREAK(int, brk, void *, end, -1)
DEFINE_BREAK(void *, sbrk, intptr_t, by, (void *)-1)
/* clang-format on */

/* ---- modules that go ---- */

MIRE_HIDDEN int mire__heap_dlclose(void *handle)
{
    int (*real)(void *) = MIRE_REAL(dlclose);
    int answer = real ? real(handle) : -1;

    if (mire__collect_as_on())
        mire__step_cache_as_refresh(mire__collect_steps);
    return answer;
}
