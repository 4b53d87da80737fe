/*
 * distinct.c - a register holds the most leading zeros, plus one, of the hashes whose first 11 bits are its number.
 *
 *     bytes: 0, 2048 registers of 5 bits; or hashes + 1, then each hash, 4 bytes, low byte first
 */
#include "rollup/distinct.h"

#include "base/bytes.h"
#include "base/fault.h"
#include "rollup/pack.h"

#include <math.h>
#include <string.h>

#define BITS       11
#define REST_BITS  (32 - BITS)
#define RANK_MAX   (REST_BITS + 1)
#define DENSE_LEN  (MIRE_DISTINCT_REGISTERS * 5 / 8)
#define FIRST_ROOM 4

uint32_t distinct_hash(const uint8_t *install)
{
    uint64_t x = load_64(install) ^ load_64(install + 8) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64's finish */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ x >> 31) >> 32);
}

static void put(uint8_t *registers, uint32_t hash)
{
    uint32_t rest = hash << BITS;
    uint8_t rank = (uint8_t)(rest ? __builtin_clz(rest) + 1 : RANK_MAX);
    uint8_t *at = &registers[hash >> REST_BITS];
    *at = rank > *at ? rank : *at;
}

static int make_registers(struct distinct *d, struct arena *arena)
{
    uint8_t *registers = arena_alloc(arena, MIRE_DISTINCT_REGISTERS);
    if (!registers)
        return MIRE_FAULT_MEMORY;
    for (uint32_t i = 0; i < d->count; i++)
        put(registers, d->hashes[i]);
    *d = (struct distinct){.registers = registers};
    return 0;
}

static int make_room(struct distinct *d, struct arena *arena)
{
    uint32_t room = d->room ? d->room * 2 : FIRST_ROOM;
    uint32_t *hashes = arena_array(arena, room, sizeof *hashes);
    if (!hashes)
        return MIRE_FAULT_MEMORY;
    if (d->count)
        memcpy(hashes, d->hashes, d->count * sizeof *hashes);
    d->hashes = hashes;
    d->room = room;
    return 0;
}

int distinct_add(struct distinct *d, struct arena *arena, uint32_t hash)
{
    uint32_t low = 0, high = d->count;

    if (d->registers) {
        put(d->registers, hash);
        return 0;
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->hashes[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < d->count && d->hashes[low] == hash)
        return 0;
    if (d->count == MIRE_DISTINCT_EXACT) {
        int rc = make_registers(d, arena);
        if (!rc)
            put(d->registers, hash);
        return rc;
    }
    if (d->count >= d->room && make_room(d, arena))
        return MIRE_FAULT_MEMORY;
    memmove(&d->hashes[low + 1], &d->hashes[low], (d->count - low) * sizeof *d->hashes);
    d->hashes[low] = hash;
    d->count++;
    return 0;
}

int distinct_merge(struct distinct *d, struct arena *arena, const struct distinct *more)
{
    int rc = more->registers && !d->registers ? make_registers(d, arena) : 0;

    for (size_t i = 0; !rc && more->registers && i < MIRE_DISTINCT_REGISTERS; i++)
        if (d->registers[i] < more->registers[i])
            d->registers[i] = more->registers[i];
    for (uint32_t i = 0; !rc && i < more->count; i++)
        rc = distinct_add(d, arena, more->hashes[i]);
    return rc;
}

/* Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017: equations 15 and 17. */
static double sigma(double x)
{
    double y = 1, z = x, before;
    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z != before);
    return z;
}

static double tau(double x)
{
    double y = 1, z = 1 - x, before;
    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z != before);
    return z / 3;
}

double distinct_count(const struct distinct *d)
{
    const double m = MIRE_DISTINCT_REGISTERS;
    unsigned having[RANK_MAX + 1] = {0};

    if (!d->registers)
        return d->count;
    for (size_t i = 0; i < MIRE_DISTINCT_REGISTERS; i++)
        having[d->registers[i]]++;
    double z = m * tau(1 - having[RANK_MAX] / m);
    for (int rank = REST_BITS; rank >= 1; rank--)
        z = 0.5 * (z + having[rank]);
    z += m * sigma(having[0] / m);
    return m / (2 * M_LN2) * m / z;
}

static double shared_hashes(const struct distinct *x, const struct distinct *y)
{
    uint32_t at = 0, other = 0, both = 0;

    while (at < x->count && other < y->count) {
        uint32_t mine = x->hashes[at], its = y->hashes[other];
        both += mine == its;
        at += mine <= its;
        other += its <= mine;
    }
    return both;
}

int distinct_shared(double *out, struct arena *arena, const struct distinct *x, const struct distinct *y)
{
    struct distinct all = {0};
    double in_x = distinct_count(x), in_y = distinct_count(y);

    *out = 0;
    if (!x->registers && !y->registers) {
        *out = shared_hashes(x, y);
        return 0;
    }
    int rc = distinct_merge(&all, arena, x);
    rc = rc ? rc : distinct_merge(&all, arena, y);
    if (!rc)
        *out = fmax(0, fmin(fmin(in_x, in_y), in_x + in_y - distinct_count(&all)));
    return rc;
}

void distinct_pack(struct pack_out *out, const struct distinct *d)
{
    unsigned char dense[DENSE_LEN];

    pack_number(out, d->registers ? 0 : d->count + 1);
    if (!d->registers) {
        pack_bytes(out, d->hashes, d->count * sizeof *d->hashes);
        return;
    }
    for (size_t i = 0, at = 0; i < MIRE_DISTINCT_REGISTERS; i += 8, at += 5) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8; k++)
            word |= (uint64_t)d->registers[i + k] << 5 * k;
        memcpy(&dense[at], &word, 5);
    }
    pack_bytes(out, dense, sizeof dense);
}

static void unpack_registers(struct distinct *out, struct pack_in *in)
{
    const unsigned char *bytes = pack_get_bytes(in, DENSE_LEN);
    uint8_t *registers = bytes ? arena_alloc(in->arena, MIRE_DISTINCT_REGISTERS) : NULL;

    in->bad |= !registers;
    for (size_t i = 0, at = 0; !in->bad && i < MIRE_DISTINCT_REGISTERS; i += 8, at += 5) {
        uint64_t word = 0;
        memcpy(&word, &bytes[at], 5);
        for (size_t k = 0; k < 8; k++) {
            registers[i + k] = (uint8_t)(word >> 5 * k & 31);
            in->bad |= registers[i + k] > RANK_MAX;
        }
    }
    if (!in->bad)
        out->registers = registers;
}

void distinct_unpack(struct distinct *out, struct pack_in *in)
{
    uint64_t count = pack_get_number(in, MIRE_DISTINCT_EXACT + 1);

    *out = (struct distinct){0};
    if (!in->bad && !count)
        unpack_registers(out, in);
    if (in->bad || count < 2)
        return;
    count--;
    const unsigned char *bytes = pack_get_bytes(in, count * sizeof *out->hashes);
    uint32_t *hashes = bytes ? arena_array(in->arena, count, sizeof *hashes) : NULL;
    in->bad |= !hashes;
    if (in->bad)
        return;
    memcpy(hashes, bytes, count * sizeof *hashes);
    for (size_t i = 1; i < count; i++)
        in->bad |= hashes[i - 1] >= hashes[i];
    if (!in->bad)
        *out = (struct distinct){.count = (uint32_t)count, .room = (uint32_t)count, .hashes = hashes};
}
