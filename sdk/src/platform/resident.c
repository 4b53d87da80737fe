/*
 * resident.c - how much of a mapping lies in memory.
 *
 * mincore is the faster way, some 3 ns for a page, but not for files. For a page that is not in the process's page
 * tables it searches the kernel's cache, 100 ns and more, and counts pages that other processes have read. Since Linux
 * 5.2 it reports all pages as present to a process that may not write to the file. For files /proc/self/pagemap is
 * read: 5 ns for an absent page, 45 ns for a present one.
 */
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_AT_A_TIME 4096u
#define WORDS_AT_A_TIME 512u
/* Bits of a page's word: Documentation/admin-guide/mm/pagemap.rst of Linux. */
#define WORD_PRESENT 63
#define WORD_SWAPPED 62
#define WORD_SHARED  61 /* a file's, or shared */

void mire__residence_open(struct residence *residence)
{
    int saved = errno;

    residence->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    errno = saved;
}

void mire__residence_close(struct residence *residence)
{
    if (residence->pagemap >= 0)
        close(residence->pagemap);
    residence->pagemap = -1;
}

/* Bits that a counted page has one of, and bits that it has none of. */
struct wanted {
    uint64_t any, none;
};

/* Count the used ones among `pages` pages from `first` on, by number. False: the system does not report it. */
static bool count_used(uint64_t *found, int pagemap, uint64_t first, uint64_t pages, struct wanted wanted)
{
    uint64_t words[WORDS_AT_A_TIME];

    *found = 0;
    for (uint64_t at = 0; at < pages;) {
        uint64_t count = pages - at < WORDS_AT_A_TIME ? pages - at : WORDS_AT_A_TIME;
        ssize_t got = pread(pagemap, words, count * sizeof(words[0]), (off_t)((first + at) * sizeof(words[0])));

        if (got < (ssize_t)sizeof(words[0]))
            return false;
        at += (uint64_t)got / sizeof(words[0]);
        for (uint64_t i = 0; i < (uint64_t)got / sizeof(words[0]); i++)
            *found += (words[i] & wanted.any) != 0 && (words[i] & wanted.none) == 0;
    }
    return true;
}

static uint64_t count_cached(uint64_t begin, uint64_t pages, uint64_t page)
{
    unsigned char in[PAGES_AT_A_TIME];
    uint64_t found = 0;

    for (uint64_t at = 0; at < pages; at += PAGES_AT_A_TIME) {
        uint64_t count = pages - at < PAGES_AT_A_TIME ? pages - at : PAGES_AT_A_TIME;

        /* Part of it may have been unmapped meanwhile: these pages are not counted. */
        if (mincore((void *)(uintptr_t)(begin + at * page), count * page, in) != 0)
            continue;
        for (uint64_t i = 0; i < count; i++)
            found += in[i] & 1;
    }
    return found;
}

uint64_t mire__residence_bytes(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = address / page * page;
    uint64_t pages = (address + size_bytes - begin + page - 1) / page, found;
    const struct wanted present = {.any = UINT64_C(1) << WORD_PRESENT};
    int saved = errno;

    if (!of_file || residence->pagemap < 0 || !count_used(&found, residence->pagemap, begin / page, pages, present))
        found = count_cached(begin, pages, page);
    errno = saved;
    return found * page < size_bytes ? found * page : size_bytes;
}

uint64_t mire__residence_held(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool shared)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = address / page * page;
    const struct wanted held = {.any = UINT64_C(1) << WORD_PRESENT | UINT64_C(1) << WORD_SWAPPED,
                                .none = shared ? 0 : UINT64_C(1) << WORD_SHARED};
    uint64_t pages = (address + size_bytes - begin + page - 1) / page, found = 0;
    int saved = errno;

    if (residence->pagemap >= 0 && !count_used(&found, residence->pagemap, begin / page, pages, held))
        found = 0;
    errno = saved;
    return found * page < size_bytes ? found * page : size_bytes;
}
