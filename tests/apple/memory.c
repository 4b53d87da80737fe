/*
 * memory.c - see machine.h: memory of libSystem, what libmalloc.c is built on, and regions with a tag. The numbers and
 * offsets are those of Apple's headers.
 */
#include "apple/machine.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define SUCCESS         0
#define INVALID_ADDRESS 1

/* ---- memory ---- */

static void *fake_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    int mine = (flags & 0x13) | (flags & 0x1000 ? MAP_ANONYMOUS : 0) | (flags & 0x40 ? MAP_NORESERVE : 0);

    return mmap(at, size, protection, mine, fd, offset);
}

static int fake_mincore(void *at, size_t size, unsigned char *out)
{
    int result = mincore(at, size, out);

    for (size_t i = 0; result == 0 && i < (size + MACHINE_PAGE - 1) / MACHINE_PAGE; i++)
        out[i] = out[i] & 1 ? 0x5 : 0;
    return result;
}

static int fake_minherit(void *at, size_t size, int inheritance)
{
    return inheritance == 2 ? madvise(at, size, MADV_DONTFORK) : 0;
}

static int fake_vm_read(uint32_t task, uint64_t from, uint64_t size, uint64_t to, uint64_t *got)
{
    struct iovec out = {(void *)(uintptr_t)to, size}, in = {(void *)(uintptr_t)from, size};

    (void)task;
    if (process_vm_readv(getpid(), &out, 1, &in, 1, 0) != (ssize_t)size)
        return INVALID_ADDRESS;
    *got = size;
    return SUCCESS;
}

static int fake_vm_deallocate(uint32_t task, void *at, size_t size)
{
    (void)task;
    return munmap(at, (size + MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE) == 0 ? SUCCESS : INVALID_ADDRESS;
}

static int fake_vm_protect(uint32_t task, uintptr_t at, size_t size, int maximum, int protection)
{
    uintptr_t start = at / MACHINE_PAGE * MACHINE_PAGE;

    (void)task;
    (void)maximum;
    return mprotect((void *)start, (at + size - start + MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE, protection) ==
                   0
               ? SUCCESS
               : INVALID_ADDRESS;
}

static void *machine_pages(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *fake_checked_copy(void *to, const void *from, size_t size, size_t room)
{
    if (size > room)
        abort();
    return memcpy(to, from, size);
}

/* ---- regions with a tag ---- */

#define TAGGED_MAX 64

static struct {
    uint64_t start, end;
    uint32_t tag;
} tagged[TAGGED_MAX];
static _Atomic uint32_t tagged_count;

static uint32_t tag_given(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < tagged_count && i < TAGGED_MAX; i++)
        if (tagged[i].start < end && tagged[i].end > start)
            return tagged[i].tag;
    return 0;
}

/* As vm_allocate with VM_MAKE_TAG: every page of it is touched. The pages beside it are closed, so it stays by itself. */
static void *machine_region(uint32_t tag, size_t bytes)
{
    char *pages = mmap(NULL, bytes + 2 * MACHINE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t row = tagged_count++;

    if (pages == MAP_FAILED || row >= TAGGED_MAX)
        return NULL;
    mprotect(pages + MACHINE_PAGE, bytes, PROT_READ | PROT_WRITE);
    memset(pages + MACHINE_PAGE, 1, bytes);
    tagged[row].start = (uintptr_t)pages + MACHINE_PAGE;
    tagged[row].end = (uintptr_t)pages + MACHINE_PAGE + bytes;
    tagged[row].tag = tag;
    return pages + MACHINE_PAGE;
}

static void machine_region_end(char *pages)
{
    for (uint32_t i = 0; i < tagged_count; i++) {
        if (tagged[i].start != (uintptr_t)pages)
            continue;
        munmap(pages, tagged[i].end - tagged[i].start);
        tagged[i].start = tagged[i].end = 0;
    }
}

/* One mapping of Linux's, and of its pages those in memory, changed, and moved out. */
struct area {
    uint64_t start, end, inode, resident, dirty, swapped;
    char access[5], path[256];
};

/* The list, read anew when a sweep begins. */
static _Thread_local struct {
    FILE *file;
    struct area area;
    char line[512];
    bool ahead; /* `line` is the next mapping's */
} list;

static bool next_area(struct area *out)
{
    uint64_t value;
    char name[32];

    memset(out, 0, sizeof(*out));
    if (!list.ahead && !fgets(list.line, sizeof(list.line), list.file))
        return false;
    sscanf(list.line, "%lx-%lx %4s %*x %*s %lu %255[^\n]", &out->start, &out->end, out->access, &out->inode, out->path);
    list.ahead = false;
    while (fgets(list.line, sizeof(list.line), list.file)) {
        if (sscanf(list.line, "%31[A-Za-z_]: %lu", name, &value) != 2) {
            if (strchr(list.line, '-') && strchr(list.line, '-') < strchr(list.line, ' ')) {
                list.ahead = true;
                break;
            }
            continue;
        }
        out->resident += strcmp(name, "Rss") == 0 ? value * 1024 : 0;
        out->dirty += strcmp(name, "Anonymous") == 0 ? value * 1024 : 0;
        out->swapped += strcmp(name, "Swap") == 0 ? value * 1024 : 0;
    }
    return true;
}

/* The mapping that ends after `at`. */
static bool find_area(uint64_t at)
{
    if (list.file && list.area.start <= at && list.area.end == at) { /* a sweep goes on */
        if (next_area(&list.area))
            return true;
    }
    if (list.file)
        fclose(list.file);
    list.ahead = false;
    list.file = fopen("/proc/self/smaps", "r");
    while (list.file && next_area(&list.area))
        if (list.area.end > at)
            return true;
    return false;
}

static uint32_t tag_of(const struct area *area)
{
    uint32_t tag = tag_given(area->start, area->end);

    if (tag != 0 || area->inode != 0)
        return tag;
    if (strstr(area->path, "[stack"))
        return 30;
    return strstr(area->path, "[heap]") || area->start % (64u << 20) == 0 ? 7 : 0;
}

/* vm_region_submap_info_64 */
static int fake_region(uint32_t task, uint64_t *at, uint64_t *size, uint32_t *depth, char *out, uint32_t *count)
{
    const struct area *area = &list.area;

    (void)task;
    if (*count < 19 || !find_area(*at))
        return INVALID_ADDRESS;
    memset(out, 0, 76);
    *depth = 0;
    *at = area->start;
    *size = area->end - area->start;
    MACHINE_PUT(out, 0, int32_t,
                (area->access[0] == 'r' ? 1 : 0) | (area->access[1] == 'w' ? 2 : 0) | (area->access[2] == 'x' ? 4 : 0));
    MACHINE_PUT(out, 20, uint32_t, tag_of(area));
    MACHINE_PUT(out, 24, uint32_t, area->resident / MACHINE_PAGE);
    MACHINE_PUT(out, 32, uint32_t, area->swapped / MACHINE_PAGE);
    MACHINE_PUT(out, 36, uint32_t, area->dirty / MACHINE_PAGE);
    MACHINE_PUT(out, 46, uint8_t, area->inode != 0);
    MACHINE_PUT(out, 56, uint32_t, area->inode);
    return SUCCESS;
}

static uint64_t page_size = MACHINE_PAGE;

static int nothing(void)
{
    return 0;
}

void *memory_find(const char *name)
{
    static const struct machine_name names[] = {
        {"_mmap", (void *)fake_mmap},
        {"_mincore", (void *)fake_mincore},
        {"_minherit", (void *)fake_minherit},
        {"_madvise", (void *)nothing},
        {"_vm_read_overwrite", (void *)fake_vm_read},
        {"_vm_deallocate", (void *)fake_vm_deallocate},
        {"_vm_protect", (void *)fake_vm_protect},
        {"_vm_region_recurse_64", (void *)fake_region},
        {"___memcpy_chk", (void *)fake_checked_copy},
        {"___bzero", (void *)bzero},
        {"_machine_malloc", (void *)malloc},
        {"_machine_aligned", (void *)aligned_alloc},
        {"_machine_free", (void *)free},
        {"_machine_usable", (void *)malloc_usable_size},
        {"_machine_region", (void *)machine_region},
        {"_machine_region_end", (void *)machine_region_end},
        {"_mprotect", (void *)mprotect},
        {"_vm_page_size", &page_size},
        {"_machine_pages", (void *)machine_pages},
    };

    return machine_find(names, MACHINE_COUNT(names), name);
}
