/* spill.c - see spill.h. */
#include "hprof/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

bool spill_open(struct spill *spill, const char *dir, size_t budget_bytes)
{
    char path[4096];
    const char *set = getenv("TMPDIR");
    *spill = (struct spill){.budget_bytes = budget_bytes, .statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
    if (!dir)
        dir = set && set[0] ? set : "/var/tmp";
    snprintf(path, sizeof path, "%s/mire-hprof-XXXXXX", dir);
    spill->fd = mkostemp(path, O_CLOEXEC);
    if (spill->fd >= 0)
        unlink(path);
    return spill->fd >= 0;
}

void spill_close(struct spill *spill)
{
    for (size_t i = 0; i < spill->count; i++)
        if (spill->pieces[i].at)
            munmap(spill->pieces[i].at, spill->pieces[i].bytes);
    if (spill->fd >= 0)
        close(spill->fd);
    if (spill->statm_fd >= 0)
        close(spill->statm_fd);
    spill->count = 0;
}

void *spill_array(struct spill *spill, size_t count, size_t size)
{
    size_t bytes;
    if (spill->count == SPILL_ARRAYS || __builtin_mul_overflow(count ? count : 1, size, &bytes) ||
        bytes > SIZE_MAX / 4) {
        errno = ENOMEM;
        return NULL;
    }
    bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (posix_fallocate(spill->fd, (off_t)spill->size, (off_t)bytes)) {
        errno = ENOSPC; /* told now, where a page that finds no room on the disk would kill the process */
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spill->fd, (off_t)spill->size);
    if (at == MAP_FAILED)
        return NULL;
    /* Read-ahead would make folios of up to 2 MiB, and Linux 6.18 maps a folio as a whole at the first touch of it. */
    (void)madvise(at, bytes, MADV_RANDOM);
    spill->size += bytes;
    spill->pieces[spill->count++] = (struct spill_piece){at, bytes};
    return at;
}

void spill_drop(struct spill *spill, void *array)
{
    for (size_t i = 0; array && i < spill->count; i++) {
        if (spill->pieces[i].at != array)
            continue;
        madvise(array, spill->pieces[i].bytes, MADV_REMOVE);
        munmap(array, spill->pieces[i].bytes);
        spill->pieces[i] = spill->pieces[--spill->count];
        return;
    }
}

/* Pages in memory, as the kernel counts them; all that there may be where it does not tell. */
static size_t resident_bytes(const struct spill *spill)
{
    char text[128];
    unsigned long all = 0, resident = 0;
    ssize_t len = spill->statm_fd < 0 ? -1 : pread(spill->statm_fd, text, sizeof text - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    return sscanf(text, "%lu %lu", &all, &resident) == 2 ? resident * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
}

void spill_look(struct spill *spill)
{
    const size_t a_step = (size_t)SPILL_TOUCHED * SPILL_AROUND;
    size_t resident = resident_bytes(spill);
    if (resident >= spill->budget_bytes) {
        for (size_t i = 0; i < spill->count; i++)
            madvise(spill->pieces[i].at, spill->pieces[i].bytes,
                    MADV_DONTNEED); /* of a shared mapping nothing is lost */
        resident = resident_bytes(spill);
    }
    size_t left = resident < spill->budget_bytes ? spill->budget_bytes - resident : 0;
    spill->steps = (left > SPILL_OVER ? left : SPILL_OVER) / a_step;
}
