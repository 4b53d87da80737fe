/* resident.c - how much of a mapping lies in memory. */
#include "platform/platform.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_AT_A_TIME 4096u

uint64_t mire__pages_resident(uint64_t address, uint64_t size_bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = address / page * page;
    unsigned char in[PAGES_AT_A_TIME];
    uint64_t pages = (address + size_bytes - begin + page - 1) / page, found = 0;
    int saved = errno;

    for (uint64_t at = 0; at < pages; at += PAGES_AT_A_TIME) {
        uint64_t count = pages - at < PAGES_AT_A_TIME ? pages - at : PAGES_AT_A_TIME;

        /* Part of it may have been unmapped meanwhile: then nothing is said of these pages. */
        if (mincore((void *)(uintptr_t)(begin + at * page), count * page, in) != 0)
            continue;
        for (uint64_t i = 0; i < count; i++)
            found += in[i] & 1;
    }
    errno = saved;
    return found * page < size_bytes ? found * page : size_bytes;
}
