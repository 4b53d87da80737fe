/* Files of memory tables: whatever is in them, the reader stays inside and says nothing impossible. */
#include "support/heap_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct heap_walk walk;
    void *copy = malloc(size ? size : 1); /* aligned, as a mapping is */

    memcpy(copy, data, size);
    heap_walk(&walk, copy, size);
    if (walk.impossible)
        abort();
    free(copy);
    return 0;
}
