/*
 * formats.h - the table of formats. Inside decode/ only.
 */
#ifndef MIRE_DECODE_FORMATS_H
#define MIRE_DECODE_FORMATS_H

#include "decode/decode.h"
#include "json/bind.h"

struct format {
    const char *name;
    bool tolerant; /* its producers write what is not quite JSON */
    enum bind_outcome (*read)(struct report *out, struct bind *bind);
};

/* The format of that name, NULL if there is none. */
const struct format *format_find(const char *name);

/* One function a format. */
enum bind_outcome mire_read(struct report *out, struct bind *bind); /* mire.c */

#endif
