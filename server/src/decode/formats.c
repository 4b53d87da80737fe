/*
 * formats.c - the formats that can be taken in: a new one is a file and a row.
 */
#include "decode/formats.h"

#include <string.h>

static const struct format formats[] = {
    {"mire", false, mire_read},
};

const struct format *format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}
