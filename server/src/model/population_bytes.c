/*
 * population_bytes.c - a population as bytes: numbers of seven bits a byte, low bits first, the top bit says "more".
 *
 *     1, reports, weight, footprint, held, categories, then for each: kind, length, name, suspects, bytes, objects
 *     a sketch: bins, then for each: its number less the one before, its weight
 *
 * Bytes with two categories of one kind and name are refused, and bytes whose bins do not rise are.
 */
#include "model/population.h"

#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1

struct out {
    unsigned char *bytes;
    size_t len, room;
    bool failed;
};

static void put(struct out *out, const void *bytes, size_t len)
{
    if (out->len + len > out->room && !out->failed) {
        size_t room = (out->len + len) * 2 + 1024;
        unsigned char *more = realloc(out->bytes, room);
        out->failed = !more;
        if (more) {
            out->bytes = more;
            out->room = room;
        }
    }
    if (out->failed)
        return;
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static void put_number(struct out *out, uint64_t value)
{
    unsigned char bytes[MIRE_VARINT_MAX];

    put(out, bytes, varint_put(bytes, value));
}

static void put_sketch(struct out *out, const struct sketch *sketch)
{
    uint32_t before = 0;
    put_number(out, sketch->count);
    for (size_t i = 0; i < sketch->count; i++) {
        put_number(out, sketch->bins[i].bin - before);
        put_number(out, sketch->bins[i].weight);
        before = sketch->bins[i].bin;
    }
}

int population_encode(unsigned char **bytes_out, size_t *len_out, const struct population *population)
{
    struct out out = {0};

    put_number(&out, VERSION);
    put_number(&out, population->reports);
    put_number(&out, population->weight);
    put_sketch(&out, &population->footprint);
    put_sketch(&out, &population->held);
    put_number(&out, population->count);
    for (size_t i = 0; i < population->count; i++) {
        const struct population_category *category = &population->categories[i];
        size_t len = strlen(category->name);
        put_number(&out, category->kind);
        put_number(&out, len);
        put(&out, category->name, len);
        put_number(&out, category->suspects);
        put_sketch(&out, &category->bytes);
        put_sketch(&out, &category->objects);
    }

    if (out.failed) {
        free(out.bytes);
        return -1;
    }
    *bytes_out = out.bytes;
    *len_out = out.len;
    return 0;
}

struct in {
    struct arena *arena;
    const unsigned char *at, *end;
    bool bad;
};

static uint64_t get_number(struct in *in, uint64_t most)
{
    uint64_t value = 0;

    in->bad = in->bad || !varint_take(&value, &in->at, in->end, most);
    return value;
}

static void get_sketch(struct in *in, struct sketch *sketch)
{
    size_t count = get_number(in, MIRE_SKETCH_BINS);
    uint64_t bin = 0;

    if (in->bad || !count)
        return;
    sketch->bins = arena_array(in->arena, count, sizeof *sketch->bins);
    in->bad = !sketch->bins;
    for (size_t i = 0; i < count && !in->bad; i++) {
        uint64_t step = get_number(in, MIRE_SKETCH_BINS - 1);
        uint64_t weight = get_number(in, UINT64_MAX);
        bin += step;
        in->bad |= (i && !step) || bin >= MIRE_SKETCH_BINS || !weight;
        if (!in->bad)
            sketch->bins[i] = (struct sketch_bin){(uint32_t)bin, weight};
    }
    sketch->count = sketch->room = count;
}

static void get_category(struct in *in, struct population_category *category)
{
    category->kind = (enum memory_kind)get_number(in, MIRE_MEMORY_KIND_COUNT - 1);
    size_t len = get_number(in, MIRE_POPULATION_NAME_MAX);
    in->bad |= (size_t)(in->end - in->at) < len || (len && memchr(in->at, 0, len));
    if (in->bad)
        return;
    category->name = arena_copy(in->arena, (const char *)in->at, len);
    in->bad = !category->name;
    in->at += len;
    category->suspects = get_number(in, UINT64_MAX);
    get_sketch(in, &category->bytes);
    get_sketch(in, &category->objects);
}

static bool rises(const struct population_category *a, const struct population_category *b)
{
    return a->kind != b->kind ? a->kind < b->kind : strcmp(a->name, b->name) < 0;
}

int population_decode(struct population *out, struct arena *arena, const unsigned char *bytes, size_t len)
{
    struct in in = {.arena = arena, .at = bytes, .end = bytes + len};

    population_init(out, arena);
    in.bad |= get_number(&in, VERSION) != VERSION;
    out->reports = get_number(&in, UINT64_MAX);
    out->weight = get_number(&in, UINT64_MAX);
    get_sketch(&in, &out->footprint);
    get_sketch(&in, &out->held);
    size_t count = get_number(&in, MIRE_POPULATION_CATEGORIES);
    if (!in.bad)
        out->categories = arena_array(arena, count, sizeof *out->categories);
    in.bad |= !out->categories;
    for (size_t i = 0; i < count && !in.bad; i++) {
        get_category(&in, &out->categories[i]);
        in.bad |= !in.bad && i && !rises(&out->categories[i - 1], &out->categories[i]);
    }
    out->count = out->room = count;
    if (!in.bad && in.at == in.end)
        return 0;
    population_init(out, arena);
    return -1;
}
