/*
 * guard.c - preloaded between libmire-preload and the C library. It wraps the functions that allocate or take locks
 * which a program with one thread omits. A call from any thread but the program's only one ends the program.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOWN   __attribute__((visibility("default")))
#define NEXT(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static int watches;

/* Only in the program that mire-run starts, not in mire-run. */
__attribute__((constructor)) static void begin(void)
{
    watches = getenv("MIRE_APP") != NULL;
}

static void check(const char *name)
{
    if (!watches || syscall(SYS_gettid) == getpid())
        return;
    watches = 0;
    int out = open("/proc/self/fd/2", O_WRONLY | O_APPEND); /* opened again: the thread may have closed descriptor 2 */
    if (write(out, "guard: ", 7) < 0 || write(out, name, strlen(name)) < 0 ||
        write(out, " on another thread\n", 19) < 0)
        _Exit(98);
    _Exit(99);
}

SHOWN void *malloc(size_t size)
{
    check("malloc");
    return __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size)
{
    check("calloc");
    return __libc_calloc(count, size);
}

SHOWN void *realloc(void *block, size_t size)
{
    check("realloc");
    return __libc_realloc(block, size);
}

SHOWN void free(void *block)
{
    check("free");
    __libc_free(block);
}

SHOWN DIR *opendir(const char *path)
{
    check("opendir");
    return NEXT(opendir)(path);
}

SHOWN FILE *fopen(const char *path, const char *mode)
{
    check("fopen");
    return NEXT(fopen)(path, mode);
}

SHOWN void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    check("qsort");
    NEXT(qsort)(items, count, size, compare);
}

SHOWN int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
    check("dl_iterate_phdr");
    return NEXT(dl_iterate_phdr)(visit, context);
}

SHOWN void *dlopen(const char *path, int flags)
{
    check("dlopen");
    return NEXT(dlopen)(path, flags);
}
