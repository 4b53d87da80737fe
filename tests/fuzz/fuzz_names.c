/* Mangled names: what is written fits and ends, whatever the name. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    char out[300];
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    size_t len = symbol_demangle(out, sizeof out, name);
    if (len >= sizeof out || strlen(out) != len)
        abort();
    free(name);
    return 0;
}
