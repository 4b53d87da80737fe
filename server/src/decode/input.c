/*
 * input.c - a chain of decompressors, a buffer, and a scanner that finds where a JSON value ends.
 */
#include "decode/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define LAYERS_MAX     2
#define LAYER_BYTES    (64u << 10)
#define WINDOW_LOG_MAX 27 /* 128 MiB: zstd --long=27; files on disk are compressed so */

struct input_layer {
    struct input_layer *under; /* where its bytes come from; NULL: the reader */
    struct input *input;
    ZSTD_DStream *zstd; /* or */
    z_stream gzip;
    bool is_gzip;
    bool over;   /* what is under it has no more */
    bool inside; /* a frame or member has begun and not ended */
    bool started;
    size_t begin, end, position;
    unsigned char bytes[LAYER_BYTES];
};

static long read_layer(struct input_layer *layer, struct input *input, void *out, size_t room);

static long broken(struct input *input, size_t position, const char *text)
{
    input->broken = true;
    input->fault->position = position;
    snprintf(input->fault->text, sizeof input->fault->text, "%s", text);
    return -1;
}

/* More bytes for a decompressor. Below zero a fault. */
static long feed(struct input_layer *layer)
{
    if (layer->begin < layer->end || layer->over)
        return 0;
    long len = read_layer(layer->under, layer->input, layer->bytes, sizeof layer->bytes);
    layer->position += layer->end;
    layer->begin = 0;
    layer->end = len > 0 ? (size_t)len : 0;
    layer->over = len == 0;
    return len < 0 ? len : 0;
}

static long step_zstd(struct input_layer *layer, void *out, size_t room)
{
    ZSTD_inBuffer from = {layer->bytes, layer->end, layer->begin};
    ZSTD_outBuffer to = {out, room, 0};
    size_t left = ZSTD_decompressStream(layer->zstd, &to, &from);
    layer->begin = from.pos;
    if (ZSTD_isError(left))
        return broken(layer->input, layer->position + from.pos, ZSTD_getErrorName(left));
    layer->inside = left != 0;
    return (long)to.pos;
}

static long step_gzip(struct input_layer *layer, void *out, size_t room)
{
    z_stream *z = &layer->gzip;
    z->next_in = layer->bytes + layer->begin;
    z->avail_in = (uInt)(layer->end - layer->begin);
    z->next_out = out;
    z->avail_out = (uInt)(room < (1u << 30) ? room : 1u << 30);
    uInt before = z->avail_out;
    int result = inflate(z, Z_NO_FLUSH);
    layer->begin = layer->end - z->avail_in;
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END)
        return broken(layer->input, layer->position + layer->begin, z->msg ? z->msg : "no gzip data");
    layer->inside = result != Z_STREAM_END;
    if (result == Z_STREAM_END && inflateReset(z) != Z_OK)
        return broken(layer->input, layer->position + layer->begin, "no gzip data");
    return (long)(before - z->avail_out);
}

static long read_layer(struct input_layer *layer, struct input *input, void *out, size_t room)
{
    if (!layer)
        return input->read(input->context, out, room);
    for (;;) {
        long rc = feed(layer);
        if (rc < 0)
            return rc;
        if (layer->over && layer->begin == layer->end && !layer->inside)
            return 0;
        long len = layer->is_gzip ? step_gzip(layer, out, room) : step_zstd(layer, out, room);
        if (len)
            return len;
        if (layer->over && layer->begin == layer->end && layer->inside)
            return broken(layer->input, layer->position + layer->end, "the compressed data end too early");
    }
}

/* ---- the buffer ---- */

/* Read on into the buffer: bytes got, 0 at the end, below zero an outcome's number, negated. */
static long fill(struct input *input)
{
    if (input->over)
        return 0;
    if (input->begin && input->end == input->room) {
        memmove(input->bytes, input->bytes + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    if (input->end == input->room) {
        size_t room = input->room ? input->room * 2 : 64u << 10;
        if (room > MIRE_FOREIGN_VALUE_MAX + 1)
            room = MIRE_FOREIGN_VALUE_MAX + 1;
        if (room == input->room)
            return -MIRE_DECODE_TOO_BIG;
        char *bytes = realloc(input->bytes, room + 1);
        if (!bytes)
            return -MIRE_DECODE_UNREADABLE;
        input->bytes = bytes;
        input->room = room;
    }
    long len = read_layer(input->layers, input, input->bytes + input->end, input->room - input->end);
    if (len < 0)
        return input->broken ? -MIRE_DECODE_MALFORMED : -MIRE_DECODE_UNREADABLE;
    input->over = len == 0;
    input->end += (size_t)len;
    return len;
}

static enum decode_outcome outcome_of(struct decode_fault *fault, long rc)
{
    if (rc == -MIRE_DECODE_TOO_BIG)
        snprintf(fault->text, sizeof fault->text, "more than %u bytes in one piece", MIRE_FOREIGN_VALUE_MAX);
    else if (rc == -MIRE_DECODE_UNREADABLE)
        snprintf(fault->text, sizeof fault->text, "the input could not be read on");
    return (enum decode_outcome) - rc;
}

static enum decode_outcome fill_head(struct input *input)
{
    while (input->end - input->begin < MIRE_FOREIGN_HEAD) {
        long len = fill(input);
        if (len < 0)
            return outcome_of(input->fault, len);
        if (!len)
            break;
    }
    return MIRE_DECODE_OK;
}

/* The bytes in the buffer are compressed: they become those of a decompressor on top of what is there. */
static bool add_layer(struct input *input, bool gzip)
{
    struct input_layer *layer = calloc(1, sizeof *layer);
    if (!layer)
        return false;
    layer->under = input->layers;
    layer->input = input;
    layer->is_gzip = gzip;
    input->layers = layer;
    layer->end = input->end - input->begin; /* fill() reads at most a buffer of 64 KiB before the head is there */
    memcpy(layer->bytes, input->bytes + input->begin, layer->end);
    input->begin = input->end = 0;
    layer->over = input->over;
    input->over = false;
    if (gzip)
        return inflateInit2(&layer->gzip, 16 + MAX_WBITS) == Z_OK;
    layer->zstd = ZSTD_createDStream();
    return layer->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(layer->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

static long read_stream(struct foreign_stream *stream, void *out, size_t room)
{
    struct input *input = (struct input *)(void *)((char *)stream - offsetof(struct input, stream));
    long len;
    if (input->begin < input->end) {
        size_t there = input->end - input->begin;
        len = (long)(there < room ? there : room);
        memcpy(out, input->bytes + input->begin, (size_t)len);
        input->begin += (size_t)len;
    } else {
        len = input->over ? 0 : read_layer(input->layers, input, out, room);
        input->over |= len == 0;
    }
    stream->at += len > 0 ? (uint64_t)len : 0;
    stream->failed |= len < 0 && !input->broken;
    return len;
}

/* Editors put a mark of UTF-8 in front. */
static void skip_mark(struct input *input)
{
    if (input->end - input->begin >= 3 && !memcmp(input->bytes + input->begin, "\xef\xbb\xbf", 3)) {
        input->begin += 3;
        input->position = 3;
    }
}

enum decode_outcome input_begin(struct input *input, struct decode_fault *fault,
                                long (*read)(void *context, void *out, size_t room), void *context)
{
    *input = (struct input){.read = read, .context = context, .fault = fault, .stream = {.read = read_stream}};
    for (int layers = 0;; layers++) {
        enum decode_outcome outcome = fill_head(input);
        if (outcome)
            return outcome;
        const char *encoding = decode_encoding_of(input->bytes + input->begin, input->end - input->begin);
        if (!strcmp(encoding, "identity")) {
            skip_mark(input);
            return MIRE_DECODE_OK;
        }
        if (layers == LAYERS_MAX) {
            snprintf(fault->text, sizeof fault->text, "compressed more than %d times", LAYERS_MAX);
            return MIRE_DECODE_TOO_BIG;
        }
        if (!add_layer(input, !strcmp(encoding, "gzip")))
            return MIRE_DECODE_NO_MEMORY;
    }
}

void input_end(struct input *input)
{
    while (input->layers) {
        struct input_layer *layer = input->layers;
        input->layers = layer->under;
        if (layer->is_gzip)
            inflateEnd(&layer->gzip);
        ZSTD_freeDStream(layer->zstd);
        free(layer);
    }
    free(input->bytes);
    input->bytes = NULL;
}

const char *input_head(size_t *len_out, const struct input *input)
{
    *len_out = input->end - input->begin;
    return input->bytes + input->begin;
}

enum decode_outcome input_rest(const char **out, size_t *len_out, struct input *input, struct decode_fault *fault)
{
    long len;
    while ((len = fill(input)) > 0)
        if (input->end - input->begin > MIRE_FOREIGN_VALUE_MAX)
            return outcome_of(fault, -MIRE_DECODE_TOO_BIG);
    if (len < 0)
        return outcome_of(fault, len);
    if (!input->bytes && !(input->bytes = calloc(1, 1)))
        return MIRE_DECODE_NO_MEMORY;
    input->bytes[input->end] = '\0';
    *out = input->bytes + input->begin;
    *len_out = input->end - input->begin;
    return MIRE_DECODE_OK;
}

/* ---- JSON values ---- */

static enum decode_outcome misplaced(const struct input *input, struct decode_fault *fault, const char *text)
{
    fault->position = input->position;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return MIRE_DECODE_MALFORMED;
}

/* Drop bytes from the front of the buffer. */
static void drop(struct input *input, size_t len)
{
    input->begin += len;
    input->position += len;
}

/* The next byte that is no space, -1 at the end, below that an outcome, negated and less 1. */
static int peek(struct input *input)
{
    for (;;) {
        while (input->begin < input->end) {
            char c = input->bytes[input->begin];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
                return (unsigned char)c;
            drop(input, 1);
        }
        long len = fill(input);
        if (len <= 0)
            return len ? (int)len - 1 : -1;
    }
}

/* How a value is scanned: brackets that are open, and whether a string is. */
struct scan {
    size_t depth;
    bool string, escaped, word;
};

/* Is the value over behind this byte? Of a bare word the byte is not part of it: *without is set. */
static bool scan_byte(struct scan *scan, bool *without, char c)
{
    if (scan->string) {
        if (scan->escaped)
            scan->escaped = false;
        else if (c == '\\')
            scan->escaped = true;
        else if (c == '"')
            scan->string = false;
        return !scan->string && !scan->depth;
    }
    if (scan->word && (c == ',' || c == ']' || c == '}' || (unsigned char)c <= ' ')) {
        *without = true;
        return true;
    }
    if (c == '"') {
        scan->string = true;
    } else if (c == '{' || c == '[') {
        scan->depth++;
    } else if (c == '}' || c == ']') {
        scan->depth -= scan->depth > 0;
        return !scan->depth;
    } else if (!scan->depth) {
        scan->word = true;
    }
    return false;
}

/* The value at the front of the buffer, whole. A value that the input ends in is given as far as it goes. */
static enum decode_outcome take_value(struct input_value *out, struct input *input, struct decode_fault *fault)
{
    struct scan scan = {0};
    size_t at = 0;
    for (;;) {
        for (; input->begin + at < input->end; at++) {
            bool without = false;
            if (scan_byte(&scan, &without, input->bytes[input->begin + at])) {
                at += !without;
                goto over;
            }
        }
        if (at > MIRE_FOREIGN_VALUE_MAX)
            return outcome_of(fault, -MIRE_DECODE_TOO_BIG);
        long len = fill(input);
        if (len < 0)
            return outcome_of(fault, len);
        if (!len)
            break;
    }
over:
    *out = (struct input_value){input->bytes + input->begin, at, input->position};
    drop(input, at);
    return MIRE_DECODE_OK;
}

static enum decode_outcome end_of_input(struct input_value *out, const struct input *input, struct decode_fault *fault,
                                        int c)
{
    *out = (struct input_value){0};
    if (c < -1)
        return outcome_of(fault, c + 1);
    if (input->in_array)
        return misplaced(input, fault, "the text ends here, too early");
    return MIRE_DECODE_OK;
}

/* Into and out of the arrays that values are elements of; *c: the next byte. */
static enum decode_outcome step(struct input *input, struct decode_fault *fault, int *c)
{
    while (*c == '[' || *c == ']' || *c == ',') {
        if (*c == '[' && input->in_array && input->separated)
            break; /* an element that is an array itself */
        if (*c == '[' ? input->in_array : !input->in_array)
            return misplaced(input, fault, *c == '[' ? "a comma or ] belongs here" : "a value belongs here");
        if (*c != '[' && input->separated)
            return misplaced(input, fault, "a value belongs here");
        input->in_array = *c != ']';
        drop(input, 1);
        char before = (char)*c;
        *c = peek(input);
        input->separated = before == ',' || (before == '[' && *c != ']');
    }
    if (input->in_array && *c >= 0 && !input->separated)
        return misplaced(input, fault, "a comma or ] belongs here");
    return MIRE_DECODE_OK;
}

enum decode_outcome input_value(struct input_value *out, struct input *input, struct decode_fault *fault)
{
    int c = peek(input);
    enum decode_outcome outcome = step(input, fault, &c);
    if (outcome)
        return outcome;
    if (c < 0)
        return end_of_input(out, input, fault, c);
    input->separated = false;
    return take_value(out, input, fault);
}
