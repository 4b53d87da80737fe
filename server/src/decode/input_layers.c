/*
 * input_layers.c - what an input is made of, one within the other: compressed data, and text of UTF-16.
 */
#include "decode/input_inside.h"

#include <brotli/decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define LAYER_BYTES    (64u << 10)
#define WINDOW_LOG_MAX 27 /* 128 MiB: zstd --long=27; files on disk are compressed so */

struct utf16 { /* between two bytes */
    bool big, has_half;
    uint8_t half;
    uint32_t high; /* first half of a pair; 0: none */
    char text[8];  /* what is not given on yet: text[at, len) */
    size_t at, len;
};

struct input_layer {
    struct input_layer *under; /* where its bytes come from; NULL: the reader */
    struct input *input;
    long (*step)(struct input_layer *layer, void *out, size_t room);
    ZSTD_DStream *zstd;
    z_stream zlib;
    bool is_zlib;
    BrotliDecoderState *brotli;
    struct utf16 utf16;
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

/* A character as UTF-8. */
static void put_utf8(struct utf16 *u, uint32_t code)
{
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    u->text[u->len++] = (char)(first[more] | code >> 6 * more);
    while (more--)
        u->text[u->len++] = (char)(0x80 | (code >> 6 * more & 0x3f));
}

/* Half a pair that is alone becomes the replacement character. */
static void take_utf16(struct utf16 *u, uint8_t byte)
{
    u->has_half = !u->has_half;
    if (u->has_half) {
        u->half = byte;
        return;
    }
    uint32_t unit = u->big ? (uint32_t)u->half << 8 | byte : (uint32_t)byte << 8 | u->half;
    bool low = (unit & 0xfc00) == 0xdc00;
    if (u->high && low)
        put_utf8(u, 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00));
    else if (u->high)
        put_utf8(u, 0xfffd);
    if (!low && (unit & 0xfc00) != 0xd800)
        put_utf8(u, unit);
    else if (low && !u->high)
        put_utf8(u, 0xfffd);
    u->high = (unit & 0xfc00) == 0xd800 ? unit : 0;
}

static long step_utf16(struct input_layer *layer, void *out, size_t room)
{
    struct utf16 *u = &layer->utf16;
    char *to = out;
    size_t made = 0;
    for (;;) {
        while (u->at < u->len && made < room)
            to[made++] = u->text[u->at++];
        layer->inside = u->at < u->len;
        if (made == room || layer->begin == layer->end)
            return (long)made;
        u->at = u->len = 0;
        take_utf16(u, layer->bytes[layer->begin++]);
    }
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

long layers_read(struct input *input, void *out, size_t room)
{
    return read_layer(input->layers, input, out, room);
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

static bool open_utf16(struct input_layer *layer, bool big)
{
    layer->step = step_utf16;
    layer->utf16.big = big;
    return true;
}

bool layers_add(struct input *input, const char *encoding)
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
    if (!strncmp(encoding, "utf-16", 6))
        return open_utf16(layer, !strcmp(encoding, MIRE_UTF16_BIG));
    return open_zlib(layer, !strcmp(encoding, "gzip") ? 16 + MAX_WBITS : MAX_WBITS);
}

void layers_end(struct input *input)
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
}
