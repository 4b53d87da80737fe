/*
 * input.c - a chain of decompressors, a buffer, and a scanner that finds where a JSON value ends.
 */
#include "decode/input.h"

#include <brotli/decode.h>
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
    long (*step)(struct input_layer *layer, void *out, size_t room);
    ZSTD_DStream *zstd;
    z_stream zlib;
    bool is_zlib;
    BrotliDecoderState *brotli;
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

/* gzip and deflate */
static long step_zlib(struct input_layer *layer, void *out, size_t room)
{
    z_stream *z = &layer->zlib;
    z->next_in = layer->bytes + layer->begin;
    z->avail_in = (uInt)(layer->end - layer->begin);
    z->next_out = out;
    z->avail_out = (uInt)(room < (1u << 30) ? room : 1u << 30);
    uInt before = z->avail_out;
    int result = inflate(z, Z_NO_FLUSH);
    layer->begin = layer->end - z->avail_in;
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END)
        return broken(layer->input, layer->position + layer->begin, z->msg ? z->msg : "no gzip or deflate data");
    layer->inside = result != Z_STREAM_END;
    if (result == Z_STREAM_END && inflateReset(z) != Z_OK)
        return broken(layer->input, layer->position + layer->begin, "no gzip or deflate data");
    return (long)(before - z->avail_out);
}

static long step_brotli(struct input_layer *layer, void *out, size_t room)
{
    size_t in = layer->end - layer->begin, left = room;
    const uint8_t *from = layer->bytes + layer->begin;
    uint8_t *to = out;
    BrotliDecoderResult result = BrotliDecoderDecompressStream(layer->brotli, &in, &from, &left, &to, NULL);
    layer->begin = layer->end - in;
    layer->inside = result != BROTLI_DECODER_RESULT_SUCCESS;
    if (result == BROTLI_DECODER_RESULT_ERROR)
        return broken(layer->input, layer->position + layer->begin, "no br data");
    if (!layer->inside && (in || room == left))
        return in ? broken(layer->input, layer->position + layer->begin, "bytes follow the br data") : 0;
    return (long)(room - left);
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
        long len = layer->step(layer, out, room);
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
    input->plain += (uint64_t)len;
    return input->plain_max && input->plain > input->plain_max ? -MIRE_DECODE_TOO_BIG : len;
}

static enum decode_outcome outcome_of(const struct input *input, struct decode_fault *fault, long rc)
{
    if (rc == -MIRE_DECODE_TOO_BIG && input->plain_max && input->plain > input->plain_max)
        snprintf(fault->text, sizeof fault->text, "more than %llu bytes once decompressed",
                 (unsigned long long)input->plain_max);
    else if (rc == -MIRE_DECODE_TOO_BIG)
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
            return outcome_of(input, input->fault, len);
        if (!len)
            break;
    }
    return MIRE_DECODE_OK;
}

static bool open_zlib(struct input_layer *layer, int window_bits)
{
    layer->step = step_zlib;
    layer->is_zlib = inflateInit2(&layer->zlib, window_bits) == Z_OK;
    return layer->is_zlib;
}

static bool open_zstd(struct input_layer *layer)
{
    layer->step = step_zstd;
    layer->zstd = ZSTD_createDStream();
    return layer->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(layer->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

static bool open_brotli(struct input_layer *layer)
{
    layer->step = step_brotli;
    layer->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    return layer->brotli != NULL;
}

/* The bytes in the buffer are compressed: they become those of a decompressor on top of the others. */
static bool add_layer(struct input *input, const char *encoding)
{
    struct input_layer *layer = calloc(1, sizeof *layer);
    if (!layer)
        return false;
    layer->under = input->layers;
    layer->input = input;
    input->layers = layer;
    layer->end = input->end - input->begin; /* fill() reads at most a buffer of 64 KiB before the head is there */
    memcpy(layer->bytes, input->bytes + input->begin, layer->end);
    input->begin = input->end = 0;
    layer->over = input->over;
    input->over = false;
    input->plain = 0;
    if (!strcmp(encoding, "br"))
        return open_brotli(layer);
    if (!strcmp(encoding, "zstd"))
        return open_zstd(layer);
    return open_zlib(layer, !strcmp(encoding, "gzip") ? 16 + MAX_WBITS : MAX_WBITS);
}

/* The compression of the bytes in the buffer. The first one may be one that no bytes tell. */
static const char *encoding_at(const struct input *input, const struct decode_each *each, int layers)
{
    const char *told = layers ? NULL : each->encoding;
    if (told && (!strcmp(told, "deflate") || !strcmp(told, "br")))
        return told;
    return decode_encoding_of(input->bytes + input->begin, input->end - input->begin);
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

enum decode_outcome input_begin(struct input *input, struct decode_fault *fault, const struct decode_each *each)
{
    *input = (struct input){.read = each->read,
                            .context = each->context,
                            .fault = fault,
                            .stream = {.read = read_stream},
                            .plain_max = each->plain_max};
    for (int layers = 0;; layers++) {
        enum decode_outcome outcome = fill_head(input);
        if (outcome)
            return outcome;
        const char *encoding = encoding_at(input, each, layers);
        if (!strcmp(encoding, "identity")) {
            skip_mark(input);
            return MIRE_DECODE_OK;
        }
        if (layers == LAYERS_MAX) {
            snprintf(fault->text, sizeof fault->text, "compressed more than %d times", LAYERS_MAX);
            return MIRE_DECODE_TOO_BIG;
        }
        if (!add_layer(input, encoding))
            return MIRE_DECODE_NO_MEMORY;
    }
}

void input_end(struct input *input)
{
    while (input->layers) {
        struct input_layer *layer = input->layers;
        input->layers = layer->under;
        if (layer->is_zlib)
            inflateEnd(&layer->zlib);
        if (layer->brotli)
            BrotliDecoderDestroyInstance(layer->brotli);
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
            return outcome_of(input, fault, -MIRE_DECODE_TOO_BIG);
    if (len < 0)
        return outcome_of(input, fault, len);
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

/* Bytes at the front that change nothing: of a string up to its next quote or backslash, else up to a bracket or quote. */
static size_t scan_skip(const struct scan *scan, const char *bytes, size_t len)
{
    static const bool matters[256] = {['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
    size_t at = 0;
    if (scan->string && !scan->escaped) {
        const char *quote = memchr(bytes, '"', len);
        size_t until = quote ? (size_t)(quote - bytes) : len;
        const char *backslash = memchr(bytes, '\\', until);
        return backslash ? (size_t)(backslash - bytes) : until;
    }
    while (scan->depth && !scan->string && at < len && !matters[(unsigned char)bytes[at]])
        at++;
    return at;
}

/* The value at the front of the buffer, whole. A value that the input ends in is given as far as it goes. */
static enum decode_outcome take_value(struct input_value *out, struct input *input, struct decode_fault *fault)
{
    struct scan scan = {0};
    size_t at = 0;
    for (;;) {
        for (; input->begin + at < input->end; at++) {
            bool without = false;
            at += scan_skip(&scan, input->bytes + input->begin + at, input->end - input->begin - at);
            if (input->begin + at == input->end)
                break;
            if (scan_byte(&scan, &without, input->bytes[input->begin + at])) {
                at += !without;
                goto over;
            }
        }
        if (at > MIRE_FOREIGN_VALUE_MAX)
            return outcome_of(input, fault, -MIRE_DECODE_TOO_BIG);
        long len = fill(input);
        if (len < 0)
            return outcome_of(input, fault, len);
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
        return outcome_of(input, fault, c + 1);
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
