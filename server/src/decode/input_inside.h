/*
 * input_inside.h - the layers below the buffer of an input: input_layers.c. Inside input.c and input_layers.c only.
 */
#ifndef MIRE_DECODE_INPUT_INSIDE_H
#define MIRE_DECODE_INPUT_INSIDE_H

#include "decode/input.h"

#define MIRE_UTF16_LITTLE "utf-16le"
#define MIRE_UTF16_BIG    "utf-16be"

/* Bytes from the last layer: 0 at the end, below zero a fault; input->broken: of the data, and input->fault names it. */
long layers_read(struct input *input, void *out, size_t room);

/*
 * The bytes in the buffer are encoded: they become those of a layer on top of the others.
 *
 *   encoding  "gzip", "deflate", "br", "zstd", or one of those above
 *
 * False: no memory.
 */
bool layers_add(struct input *input, const char *encoding);

void layers_end(struct input *input);

#endif
