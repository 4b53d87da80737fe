/* memory_apple.c - own memory, and files of it; see platform.h and file.h. Signal-safe. */
#include "platform/file.h"
#include "platform/mine.h"
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/vm_map.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel copies; a range with a hole is copied page by page, up to the hole. */
size_t mire__peek(void *out, uint64_t address, size_t size_bytes)
{
    size_t copied = 0;

    if (size_bytes == 0 || address + size_bytes < address)
        return 0;
    for (bool whole = true; copied < size_bytes;) {
        vm_address_t from = (vm_address_t)(address + copied);
        vm_size_t left = size_bytes - copied, page = vm_page_size - (from & (vm_page_size - 1)), got = 0;
        vm_size_t part = whole || left < page ? left : page;

        if (vm_read_overwrite(mach_task_self(), from, part, (vm_address_t)((char *)out + copied), &got) !=
            KERN_SUCCESS) {
            if (!whole || part <= page)
                break;
            whole = false;
            continue;
        }
        copied += got;
    }
    return copied;
}

static void *map(size_t size_bytes, int flags, int fd)
{
    int saved = errno;
    void *pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    errno = saved;
    if (pages == MAP_FAILED)
        return NULL;
    mire__mine_add(pages, size_bytes);
    return pages;
}

void *mire__pages_map(size_t size_bytes)
{
    void *pages = map(size_bytes, MAP_PRIVATE | MAP_ANON, -1);

    if (pages)
        minherit(pages, size_bytes, VM_INHERIT_NONE);
    return pages;
}

void mire__pages_unmap(void *pages, size_t size_bytes)
{
    int saved = errno;

    mire__mine_remove(pages, size_bytes);
    munmap(pages, size_bytes);
    errno = saved;
}

void *mire__pages_map_file(size_t size_bytes, int fd)
{
    return map(size_bytes, MAP_SHARED, fd);
}

/* Fresh pages in place of the old ones. */
void mire__pages_empty(void *pages, size_t size_bytes)
{
    int saved = errno;

    mmap(pages, size_bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANON, -1, 0);
    errno = saved;
}

void mire__pages_keep_small(void *pages, size_t size_bytes)
{
    (void)pages;
    (void)size_bytes;
}

/* The file has its blocks already (mire__file_reserve), so a store fails only if memory is short. */
bool mire__pages_claim(void *pages, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += 4096)
        *((volatile char *)pages + at) = 0;
    return true;
}

bool mire__pages_punch(void *pages, size_t size_bytes)
{
    (void)pages;
    (void)size_bytes;
    return false;
}

void *mire__pages_map_inherited(size_t size_bytes, bool wiped)
{
    void *pages = map(size_bytes, MAP_PRIVATE | MAP_ANON, -1);

    if (pages && wiped)
        minherit(pages, size_bytes, VM_INHERIT_NONE);
    return pages;
}

/* ---- how much of it is in memory ---- */

void mire__residence_open(struct residence *residence)
{
    residence->pagemap = -1;
}

void mire__residence_close(struct residence *residence)
{
    (void)residence;
}

#define DISPOSITIONS_AT_A_TIME 512

/* Bits of a page as the kernel has it: VM_PAGE_QUERY_PAGE_*. */
static uint64_t count_pages(uint64_t address, uint64_t size_bytes, int wanted)
{
    uint64_t page = vm_page_size, found = 0, end = address + size_bytes;
    unsigned char of_page[DISPOSITIONS_AT_A_TIME];

    for (uint64_t at = address / page * page; at < end; at += DISPOSITIONS_AT_A_TIME * page) {
        uint64_t count = (end - at + page - 1) / page;

        count = count < DISPOSITIONS_AT_A_TIME ? count : DISPOSITIONS_AT_A_TIME;
        if (mincore((void *)(uintptr_t)at, count * page, (char *)of_page) != 0)
            continue;
        for (uint64_t i = 0; i < count; i++)
            found += (of_page[i] & wanted) != 0;
    }
    return found * page < size_bytes ? found * page : size_bytes;
}

uint64_t mire__residence_bytes(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool of_file)
{
    (void)residence;
    (void)of_file;
    return count_pages(address, size_bytes, MINCORE_INCORE);
}

/* Changed pages, in memory or compressed. */
uint64_t mire__residence_held(const struct residence *residence, uint64_t address, uint64_t size_bytes, bool shared)
{
    (void)residence;
    (void)shared;
    return count_pages(address, size_bytes, MINCORE_MODIFIED | MINCORE_PAGED_OUT);
}

/* ---- files ---- */

struct timespec mire__file_changed(const struct stat *info)
{
    return info->st_mtimespec;
}

bool mire__file_reserve(int fd, uint64_t at, uint64_t size_bytes)
{
    struct stat info;
    fstore_t room = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE};

    if (fstat(fd, &info) != 0)
        return false;
    if (at + size_bytes <= (uint64_t)info.st_blocks * 512)
        return true;
    room.fst_length = (off_t)(at + size_bytes - (uint64_t)info.st_blocks * 512);
    return fcntl(fd, F_PREALLOCATE, &room) != -1;
}

bool mire__file_sync(int fd)
{
    return fcntl(fd, F_BARRIERFSYNC) != -1 || fsync(fd) == 0;
}

bool mire__file_in_memory(uint64_t *left_bytes_out, const char *folder)
{
    (void)folder;
    *left_bytes_out = 0;
    return false;
}

bool mire__pages_keep_from_child(void *pages, size_t size_bytes)
{
    return minherit(pages, size_bytes, VM_INHERIT_NONE) == 0;
}
