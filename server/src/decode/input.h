/*
 * input.h - the bytes of an input, decompressed as they come, and cut into JSON values. Inside decode/ only.
 *
 *     reader --> (zstd | gzip | deflate | br | UTF-16, at most three) --> buffer --> head, one value, or all the rest
 *
 * Pieces may be of any size, down to one byte. The buffer holds one value at most, which MIRE_FOREIGN_VALUE_MAX bounds.
 */
#ifndef MIRE_DECODE_INPUT_H
#define MIRE_DECODE_INPUT_H

#include "decode/foreign.h"

struct input_layer;

struct input {
    struct foreign_stream stream; /* the rest, byte by byte: of the buffer, then of the reader */
    long (*read)(void *context, void *out, size_t room);
    void *context;
    struct input_layer *layers; /* the last decompressor; NULL: the reader itself */
    struct decode_fault *fault;
    char *bytes;
    size_t begin, end, room;   /* the buffer has bytes[begin, end) */
    size_t position;           /* of bytes[begin] in the decompressed input */
    uint64_t plain, plain_max; /* bytes that were decompressed, and the bound of them; 0: none */
    bool over;                 /* the reader has no more */
    bool in_array;             /* values are elements of an array */
    bool separated;            /* a comma was read: an element belongs here */
    bool broken;               /* a compressed stream is damaged: the fault says where */
};

struct input_value {
    const char *text; /* valid until the next call; NULL: the input is at its end */
    size_t len;
    size_t position; /* of its first byte in the decompressed input */
};

/*
 * Read the head, and undo the compression that each->encoding names and the head shows. input_end() is due after every
 * outcome.
 */
enum decode_outcome input_begin(struct input *input, struct decode_fault *fault, const struct decode_each *each);
void input_end(struct input *input);

/* The first bytes: MIRE_FOREIGN_HEAD, or all there are. Before any value is taken. */
const char *input_head(size_t *len_out, const struct input *input);

/* The next JSON value: an element, if the input is an array. Only brackets and quotes are looked at. */
enum decode_outcome input_value(struct input_value *out, struct input *input, struct decode_fault *fault);

/*
 * After a refused value: skip to the next bracket, if the input is no array. The bytes before it are not looked at.
 */
void input_pass(struct input *input);

/* The rest of the input, with a NUL behind it. */
enum decode_outcome input_rest(const char **out, size_t *len_out, struct input *input, struct decode_fault *fault);

#endif
