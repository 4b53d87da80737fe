/* Files of memory tables: the reader stays inside any file and reports nothing impossible. */
#include "support/heap_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct heap_walk walk;
    void *copy = malloc(size ? size : 1); /* aligned, like a mapping */

    memcpy(copy, data, size);
    heap_walk(&walk, copy, size);
    if (walk.impossible)
        abort();
    free(copy);
    return 0;
}
