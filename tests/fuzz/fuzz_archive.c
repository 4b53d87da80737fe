/* An uploaded archive: unpacked, and its items examined. */
#include "sandbox/open.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 0;
    (void)contents_open(&contents, why, fd, NULL, NULL);
    contents_close(&contents);
    close(fd);
    return 0;
}
