/* pack.c - see pack.h. */
#include "rollup/pack.h"

#include "base/varint.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53: whole numbers are exact up to here */

void pack_bytes(struct pack_out *out, const void *bytes, size_t len)
{
    if (out->len + len > out->room && !out->failed) {
        size_t room = (out->len + len) * 2 + 64;
        unsigned char *more = arena_alloc(out->arena, room);
        out->failed = !more;
        if (more && out->len)
            memcpy(more, out->bytes, out->len);
        if (more) {
            out->bytes = more;
            out->room = room;
        }
    }
    if (out->failed)
        return;
    if (len)
        memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

void pack_number(struct pack_out *out, uint64_t value)
{
    unsigned char bytes[MIRE_VARINT_MAX];

    pack_bytes(out, bytes, varint_put(bytes, value));
}

void pack_real(struct pack_out *out, double value)
{
    if (value >= 0 && value <= WHOLE_MAX && value == floor(value)) {
        pack_number(out, (uint64_t)value << 1);
        return;
    }
    pack_number(out, 1);
    pack_bytes(out, &value, sizeof value);
}

void pack_text(struct pack_out *out, const char *text)
{
    size_t len = strlen(text);
    pack_number(out, len);
    pack_bytes(out, text, len);
}

uint64_t pack_get_number(struct pack_in *in, uint64_t most)
{
    uint64_t value = 0;

    in->bad = in->bad || !varint_take(&value, &in->at, in->end, most);
    return value;
}

double pack_get_real(struct pack_in *in)
{
    uint64_t value = pack_get_number(in, (uint64_t)WHOLE_MAX << 1);
    double real = 0;
    if (!(value & 1))
        return (double)(value >> 1);
    const unsigned char *bytes = pack_get_bytes(in, sizeof real);
    if (bytes)
        memcpy(&real, bytes, sizeof real);
    in->bad |= value != 1 || !isfinite(real) || real < 0;
    return in->bad ? 0 : real;
}

const unsigned char *pack_get_bytes(struct pack_in *in, size_t len)
{
    const unsigned char *bytes = in->at;
    in->bad |= (size_t)(in->end - in->at) < len;
    if (in->bad)
        return NULL;
    in->at += len;
    return bytes;
}

const char *pack_get_text(struct pack_in *in, size_t most)
{
    size_t len = pack_get_number(in, most);
    const unsigned char *bytes = pack_get_bytes(in, len);
    const char *text = NULL;
    in->bad |= bytes && len && memchr(bytes, 0, len);
    if (bytes && !in->bad)
        text = arena_copy(in->arena, (const char *)bytes, len);
    in->bad |= !text;
    return text ? text : "";
}

size_t pack_get_count(struct pack_in *in, size_t most, size_t least)
{
    size_t count = pack_get_number(in, most);
    in->bad |= count > (size_t)(in->end - in->at) / least;
    return in->bad ? 0 : count;
}

void pack_sketch(struct pack_out *out, const struct sketch *sketch)
{
    uint32_t before = 0;

    pack_number(out, sketch->count);
    for (size_t i = 0; i < sketch->count; i++) {
        pack_number(out, sketch->bins[i].bin - before);
        pack_number(out, sketch->bins[i].weight);
        before = sketch->bins[i].bin;
    }
}

void pack_get_sketch(struct sketch *out, struct pack_in *in)
{
    size_t count = pack_get_count(in, MIRE_SKETCH_BINS, 2);
    uint64_t bin = 0;

    if (!count)
        return;
    out->bins = arena_array(in->arena, count, sizeof *out->bins);
    in->bad |= !out->bins;
    for (size_t i = 0; i < count && !in->bad; i++) {
        uint64_t step = pack_get_number(in, MIRE_SKETCH_BINS - 1);
        uint64_t weight = pack_get_number(in, UINT64_MAX);
        bin += step;
        in->bad |= (i && !step) || bin >= MIRE_SKETCH_BINS || !weight;
        if (!in->bad)
            out->bins[i] = (struct sketch_bin){(uint32_t)bin, weight};
    }
    out->count = out->room = count;
}
