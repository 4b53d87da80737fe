/* Mangled names: the output of any name fits and ends. */
#include "demangle/swift/swift.h"
#include "symbolizer/symbolizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    char out[300];
    char long_out[4096];
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    size_t len = symbol_demangle(out, sizeof out, name);
    if (len >= sizeof out || strlen(out) != len)
        abort();
    for (int style = SWIFT_SHORT; style <= SWIFT_FULL; style++) {
        len = swift_demangle(long_out, sizeof long_out, name, strlen(name), (enum swift_style)style);
        if (len >= sizeof long_out || (len && strlen(long_out) != len))
            abort();
    }
    free(name);
    return 0;
}
