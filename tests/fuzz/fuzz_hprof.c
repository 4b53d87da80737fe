/* Heap dumps: any bytes in a file. What is one is a report that Mire's own decoder takes. */
#include "base/arena.h"
#include "decode/decode.h"
#include "hprof/hprof.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hprof_fault fault;
    struct decode_fault wrong;
    struct report report;
    struct arena arena;
    char *text;
    size_t len;
    int fd = memfd_create("dump", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    bool good = hprof_report(&text, &len, &fault, fd, "/dev/shm");
    close(fd);
    if (!good && !fault.text[0])
        abort();
    if (!good)
        return 0;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    if (decode_report(&report, &arena, &wrong, "mire", "identity", text, len))
        abort();
    arena_fini(&arena);
    free(text);
    return 0;
}
