/*
 * heap_stacks.c - prints the stacks of live blocks in memory tables:  heap_stacks FILE LEAST MOST   (sizes in bytes)
 *
 * One line for each block: its size, then the addresses of its frames, innermost first, in hexadecimal.
 */
#include "heapread/read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    struct heap_reader reader;
    uint64_t least, most;
} look;

static bool print(void *context, const struct heap_live *live)
{
    uint32_t node = live->node;
    struct heap_frame frame;

    (void)context;
    if (live->size < look.least || live->size > look.most || live->category >= MIRE_CATEGORY_KINDS)
        return true;
    printf("%" PRIu64, live->size);
    while (mire__read_frame(&frame, &look.reader, &node))
        printf(" %" PRIx64, frame.address);
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    struct stat info;
    int fd = argc == 4 ? open(argv[1], O_RDONLY) : -1;
    void *bytes;

    if (fd < 0 || fstat(fd, &info) != 0)
        return 2;
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED || mire__read_open(&look.reader, bytes, (uint64_t)info.st_size) != 0)
        return 1;
    look.least = strtoull(argv[2], NULL, 10);
    look.most = strtoull(argv[3], NULL, 10);
    mire__read_blocks(&look.reader, print, NULL);
    return 0;
}
