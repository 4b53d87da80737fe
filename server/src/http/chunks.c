/*
 * chunks.c - chunked bodies: the lines byte by byte, the data as it comes.
 */
#include "http/chunks.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_size(struct chunks *chunks, char c)
{
    int value = hex_value(c);
    if (value >= 0) {
        chunks->left = chunks->left * 16 + (uint64_t)value;
        return ++chunks->digits <= MIRE_CHUNKS_DIGITS_MAX;
    }
    chunks->part = c == ';' ? MIRE_CHUNKS_EXTENSION : MIRE_CHUNKS_SIZE_LF;
    return chunks->digits && (c == ';' || c == '\r');
}

/* A byte of an extension or a trailer's value; CR ends both. */
static bool take_text(struct chunks *chunks, enum chunks_part after, char c)
{
    if (c == '\r')
        chunks->part = after;
    return c == '\r' || (wire_is_text(c) && ++chunks->extras <= MIRE_CHUNKS_EXTRAS_MAX);
}

static bool take_name(struct chunks *chunks, char c)
{
    bool is_begin = chunks->part == MIRE_CHUNKS_TRAILER;
    if (is_begin && c == '\r') {
        chunks->part = MIRE_CHUNKS_LAST_LF;
        return true;
    }
    bool is_end = !is_begin && c == ':';
    chunks->part = is_end ? MIRE_CHUNKS_TRAILER_VALUE : MIRE_CHUNKS_TRAILER_NAME;
    return (is_end || wire_is_token(&c, 1)) && ++chunks->extras <= MIRE_CHUNKS_EXTRAS_MAX;
}

static bool take_end(struct chunks *chunks, char c, char wanted, enum chunks_part next)
{
    chunks->part = next;
    return c == wanted;
}

/* The next byte, which is not one of the data. False: it is not allowed here. */
static bool take_byte(struct chunks *chunks, char c)
{
    switch (chunks->part) {
    case MIRE_CHUNKS_SIZE:
        return take_size(chunks, c);
    case MIRE_CHUNKS_EXTENSION:
        return take_text(chunks, MIRE_CHUNKS_SIZE_LF, c);
    case MIRE_CHUNKS_SIZE_LF:
        chunks->digits = 0;
        return take_end(chunks, c, '\n', chunks->left ? MIRE_CHUNKS_DATA : MIRE_CHUNKS_TRAILER);
    case MIRE_CHUNKS_DATA_CR:
        return take_end(chunks, c, '\r', MIRE_CHUNKS_DATA_LF);
    case MIRE_CHUNKS_DATA_LF:
        return take_end(chunks, c, '\n', MIRE_CHUNKS_SIZE);
    case MIRE_CHUNKS_TRAILER:
    case MIRE_CHUNKS_TRAILER_NAME:
        return take_name(chunks, c);
    case MIRE_CHUNKS_TRAILER_VALUE:
        return take_text(chunks, MIRE_CHUNKS_TRAILER_LF, c);
    case MIRE_CHUNKS_TRAILER_LF:
        return take_end(chunks, c, '\n', MIRE_CHUNKS_TRAILER);
    case MIRE_CHUNKS_LAST_LF:
        return take_end(chunks, c, '\n', MIRE_CHUNKS_END);
    default:
        return false;
    }
}

enum wire_outcome chunks_take(struct chunks *chunks, const char **data, size_t *data_len, const char **bytes,
                              size_t *len)
{
    *data = *bytes;
    *data_len = 0;
    while (*len && chunks->part != MIRE_CHUNKS_DATA && chunks->part != MIRE_CHUNKS_END) {
        if (!take_byte(chunks, **bytes))
            return MIRE_WIRE_BAD;
        ++*bytes;
        --*len;
    }
    if (chunks->part == MIRE_CHUNKS_END)
        return MIRE_WIRE_WHOLE;
    if (*len) {
        *data = *bytes;
        *data_len = *len < chunks->left ? *len : (size_t)chunks->left;
        *bytes += *data_len;
        *len -= *data_len;
        chunks->left -= *data_len;
        if (!chunks->left)
            chunks->part = MIRE_CHUNKS_DATA_CR;
    }
    return MIRE_WIRE_MORE;
}
