/*
 * heap_begin.c - preloads only the collecting side of heap/, and records every block in the file $MIRE_TABLES from the
 * start. For C libraries that the rest of the SDK is not built for.
 */
#include "allochook/allochook.h"
#include "allochook/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct heap heap;

__attribute__((constructor)) static void begin(void)
{
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    const char *path = getenv("MIRE_TABLES");
    size_t size = mire__heap_file_bytes(options.budget_bytes);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    void *memory = MAP_FAILED;

    mire__heap_bind(RTLD_NEXT);
    options.mode = MIRE_HEAP_EXACT;
    options.pid = mire__pid();
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED || mire__heap_open(&heap, memory, &options) != MIRE_OK ||
        mire__collect_begin(&heap) != MIRE_OK)
        _exit(99);
    close(fd);
}
