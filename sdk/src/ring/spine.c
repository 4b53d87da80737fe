/*
 * spine.c - one majority vote per level of the stacks: a candidate that outweighs all others is found in one pass
 * (Boyer and Moore), and weighed in a second. So neither a tree nor memory is needed.
 */
#include "ring/spine.h"

#include <string.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325) /* FNV-1a */
#define HASH_PRIME UINT64_C(0x100000001b3)

/* A function by its address in this process. */
struct place {
    uint64_t at;
    bool known;
};

struct vote {
    const struct sample *samples[MIRE_RING_SAMPLES]; /* those that stand in every function so far; NULL else */
    uint64_t weights[MIRE_RING_SAMPLES];
    uint32_t count;
    uint64_t total;
    bool inward;
};

static uint64_t apart(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

static bool same_place(struct place one, struct place other)
{
    return apart(one.at, other.at) < (one.known || other.known ? 1 : MIRE_SPINE_DRIFT_BYTES);
}

static bool holds_most(uint64_t part, uint64_t all)
{
    return part * 100 >= all * MIRE_SPINE_PERCENT;
}

/* The sample's function at a level: 0 is where the vote begins. False: it is not that deep. */
static bool place_at(struct place *out, const struct sample *sample, uint32_t level, bool inward)
{
    uint32_t frame;

    if (level >= sample->depth)
        return false;
    frame = inward ? level : sample->depth - 1 - level;
    out->known = sample->into[frame] != 0;
    out->at = sample->pc[frame] - sample->into[frame];
    return true;
}

/* The place most of the weight stands at, if one has enough; those that stand elsewhere leave the vote. */
static bool elect(struct place *out, struct vote *vote, uint32_t level)
{
    struct place candidate = {0}, place;
    uint64_t lead = 0, weight = 0;

    for (uint32_t i = 0; i < vote->count; i++) {
        if (!vote->samples[i] || !place_at(&place, vote->samples[i], level, vote->inward))
            continue;
        if (lead > 0 && same_place(place, candidate)) {
            lead += vote->weights[i];
        } else if (lead >= vote->weights[i]) {
            lead -= vote->weights[i];
        } else {
            candidate = place;
            lead = vote->weights[i] - lead;
        }
    }
    for (uint32_t i = 0; i < vote->count; i++) {
        if (vote->samples[i] && place_at(&place, vote->samples[i], level, vote->inward) && same_place(place, candidate))
            weight += vote->weights[i];
        else
            vote->samples[i] = NULL;
    }
    *out = candidate;
    return holds_most(weight, vote->total) && weight > 0;
}

static uint32_t image_number(const struct blackbox *box, int index)
{
    const struct image *image = &box->images[index];
    uint64_t hash = HASH_BEGIN;

    if (image->id_size > 0 && image->id_size <= MIRE_BUILD_ID_MAX)
        for (uint32_t i = 0; i < image->id_size; i++)
            hash = (hash ^ image->id[i]) * HASH_PRIME;
    else
        for (const char *at = mire__blackbox_image_path(box, (uint32_t)index); *at; at++)
            hash = (hash ^ (uint8_t)*at) * HASH_PRIME;
    return (uint32_t)(hash ^ hash >> 32) | 1;
}

static struct spine_function function_of(const struct blackbox *box, struct place place)
{
    int index = mire__blackbox_find_image(box, place.at);

    if (index < 0)
        return (struct spine_function){.at = place.at, .known = place.known};
    return (struct spine_function){
        .at = place.at - box->images[index].load, .image = image_number(box, index), .known = place.known};
}

static bool is_whole(const struct sample *sample)
{
    return sample->depth > 0 && !(sample->flags & (MIRE_SAMPLE_CUT | MIRE_SAMPLE_BROKEN));
}

/* Who votes: the whole stacks if they hold most of the weight, else every stack there is. */
static void enrol(struct vote *vote, const struct ring *ring, bool inward)
{
    uint64_t whole = 0, any = 0, weight;
    const struct sample *sample;

    for (uint32_t i = 0; (sample = mire__ring_at(&weight, ring, i)); i++) {
        any += sample->depth > 0 ? weight + 1 : 0;
        whole += is_whole(sample) ? weight + 1 : 0;
    }
    memset(vote, 0, sizeof(*vote));
    vote->inward = inward;
    for (uint32_t i = 0; (sample = mire__ring_at(&weight, ring, i)) && i < MIRE_RING_SAMPLES; i++) {
        if (holds_most(whole, any) ? !is_whole(sample) : sample->depth == 0)
            continue;
        vote->samples[vote->count] = sample;
        vote->weights[vote->count++] = weight + 1;
        vote->total += weight + 1;
    }
}

static void descend(struct spine *out, const struct blackbox *box, const struct ring *ring, bool inward)
{
    struct vote vote;
    struct place place;

    enrol(&vote, ring, inward);
    out->depth = 0;
    out->inward = inward;
    for (uint32_t level = 0; level < MIRE_DEPTH_MAX && elect(&place, &vote, level); level++) {
        if (out->depth == MIRE_SPINE_MAX)
            memmove(out->functions, out->functions + 1, --out->depth * sizeof(out->functions[0]));
        out->functions[out->depth++] = function_of(box, place);
    }
}

void mire__spine_find(struct spine *out, const struct blackbox *box, const struct ring *ring)
{
    const struct sample *sample;

    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; (sample = mire__ring_at(NULL, ring, i)); i++)
        if (sample->depth > out->deepest)
            out->deepest = sample->depth;
    descend(out, box, ring, false);
    if (out->depth < 2 && out->deepest > 1)
        descend(out, box, ring, true);
}

bool mire__spine_same(const struct spine *one, const struct spine *other)
{
    if (one->depth == 0 || one->depth != other->depth || one->inward != other->inward)
        return false;
    for (uint32_t i = 0; i < one->depth; i++) {
        struct place a = {one->functions[i].at, one->functions[i].known != 0};
        struct place b = {other->functions[i].at, other->functions[i].known != 0};

        if (one->functions[i].image != other->functions[i].image || !same_place(a, b))
            return false;
    }
    return true;
}

uint64_t mire__spine_number(const struct spine *spine, uint64_t seed)
{
    uint64_t hash = (HASH_BEGIN ^ seed) * HASH_PRIME;

    for (uint32_t i = 0; i < spine->depth; i++) {
        const struct spine_function *function = &spine->functions[i];
        uint64_t at = function->known ? function->at : function->at / MIRE_SPINE_DRIFT_BYTES;
        uint64_t words[2] = {at, (uint64_t)function->image << 1 | function->known};

        for (size_t byte = 0; byte < sizeof(words); byte++)
            hash = (hash ^ (words[byte / 8] >> byte % 8 * 8 & 0xff)) * HASH_PRIME;
    }
    return hash ? hash : 1;
}
