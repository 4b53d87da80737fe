/*
 * Chunked bodies: however the bytes are cut into pieces, the same body is found, its end at the same place. A body that
 * is taken is no longer than its bytes, and is found by a second, plainer reader too.
 */
#include "http/chunks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct body {
    enum wire_outcome found;
    size_t used; /* up to its end, or to the byte that is not allowed */
    size_t len;
    uint8_t *bytes;
};

static void read_in_pieces(struct body *out, const uint8_t *data, size_t size, size_t step)
{
    struct chunks chunks = {0};

    *out = (struct body){.found = MIRE_WIRE_MORE, .bytes = malloc(size + 1)};
    if (!out->bytes)
        abort();
    while (out->used < size && out->found == MIRE_WIRE_MORE) {
        size_t len = size - out->used < step ? size - out->used : step;
        char *piece = malloc(len); /* exactly as long: reading on is found */
        if (!piece)
            abort();
        memcpy(piece, data + out->used, len);
        const char *at = piece, *found = NULL;
        size_t left = len, found_len = 0;
        while (left && out->found == MIRE_WIRE_MORE) {
            out->found = chunks_take(&chunks, &found, &found_len, &at, &left);
            memcpy(out->bytes + out->len, found, found_len);
            out->len += found_len;
        }
        out->used += len - left;
        free(piece);
    }
}

/* The end of the line at `at`, which has CR LF. */
static const uint8_t *line_end(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 2 && (at[0] != '\r' || at[1] != '\n'))
        at++;
    if (end - at < 2)
        abort();
    return at;
}

/* A reader that looks for the ends of lines only finds the same. */
static void check_plainly(const struct body *body, const uint8_t *data)
{
    const uint8_t *at = data, *end = data + body->used;
    size_t len = 0, size;

    do {
        const uint8_t *line = line_end(at, end);
        size = strtoul((const char *)at, NULL, 16);
        at = line + 2;
        if ((size_t)(end - at) < size || memcmp(body->bytes + len, at, size) != 0)
            abort();
        len += size;
        at += size;
        if (size && line_end(at, end) != at)
            abort();
        at += size ? 2 : 0;
    } while (size);
    while (line_end(at, end) != at)
        at = line_end(at, end) + 2;
    if (at + 2 != end || len != body->len)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct body whole, again;

    read_in_pieces(&whole, data, size, size ? size : 1);
    for (size_t step = 1; step < 8; step++) {
        read_in_pieces(&again, data, size, step);
        if (again.found != whole.found || again.used != whole.used || again.len != whole.len ||
            memcmp(again.bytes, whole.bytes, whole.len) != 0)
            abort();
        free(again.bytes);
    }
    if (whole.found == MIRE_WIRE_WHOLE)
        check_plainly(&whole, data);
    free(whole.bytes);
    return 0;
}
