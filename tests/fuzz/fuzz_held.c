/* Files of memory tables: the report of any file is accepted by the server. */
#include "decode/decode.h"
#include "support/held.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *copy = malloc(size ? size : 1); /* aligned, like a mapping */
    struct decode_fault fault = {.text = ""};
    char *text, id[37];
    size_t len;

    memcpy(copy, data, size);
    text = held_json(&len, copy, size);
    if (text && decode_check(id, &fault, "mire", "identity", text, len) != MIRE_DECODE_OK) {
        fprintf(stderr, "at %s: %s\n%.2000s\n", fault.path, fault.text, text);
        abort();
    }
    free(text);
    free(copy);
    return 0;
}
