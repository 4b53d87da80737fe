/*
 * signature.c - one vote per level of the stacks. A first pass finds two candidates (Misra and Gries, "Finding repeated
 * elements", 1982: any function with more than a third of the weight is among them). A second pass weighs them. The
 * vote needs no tree and no memory.
 */
#include "ring/signature.h"

#include "base/hash.h"

#include <string.h>

/* A function by its address in this process. */
struct function_address {
    uint64_t at;
    bool known;
};

struct vote {
    const struct sample *samples[MIRE_RING_SAMPLES]; /* in every elected function so far; otherwise NULL */
    uint64_t weights[MIRE_RING_SAMPLES];
    uint32_t count;
    uint64_t total;
    bool inward;
};

static uint64_t apart(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

static bool same_function(struct function_address one, struct function_address other)
{
    return apart(one.at, other.at) < (one.known || other.known ? 1 : MIRE_SIGNATURE_DRIFT_BYTES);
}

static bool holds(uint64_t part, uint64_t all, uint64_t percent)
{
    return part > 0 && part * 100 >= all * percent;
}

/* The sample's function at a level; the vote begins at 0. False: the stack is not that deep. */
static bool function_at(struct function_address *out, const struct sample *sample, uint32_t level, bool inward)
{
    uint32_t frame;

    if (level >= mire__sample_reach(sample))
        return false;
    frame = inward ? level : sample->depth - 1 - level;
    out->known = sample->into[frame] != 0;
    out->at = sample->pc[frame] - sample->into[frame];
    return true;
}

struct candidate {
    struct function_address function;
    uint64_t lead, weight;
};

/* Add the weight to the function's candidate, or make it one if a seat is empty; otherwise take it from both. */
static void cast(struct candidate candidates[2], struct function_address function, uint64_t weight)
{
    for (int i = 0; i < 2; i++) {
        if (candidates[i].lead > 0 && same_function(function, candidates[i].function)) {
            candidates[i].lead += weight;
            return;
        }
    }
    while (weight > 0) {
        struct candidate *weaker = &candidates[candidates[1].lead < candidates[0].lead];
        uint64_t loss = weaker->lead < weight ? weaker->lead : weight;

        if (weaker->lead == 0) {
            *weaker = (struct candidate){.function = function, .lead = weight};
            return;
        }
        candidates[0].lead -= loss;
        candidates[1].lead -= loss;
        weight -= loss;
    }
}

/* The function with most of the weight, and its weight. Samples in other functions leave the vote. */
static uint64_t elect(struct function_address *out, struct vote *vote, uint32_t level)
{
    struct candidate candidates[2] = {0};
    struct function_address function;
    bool second;

    for (uint32_t i = 0; i < vote->count; i++)
        if (vote->samples[i] && function_at(&function, vote->samples[i], level, vote->inward))
            cast(candidates, function, vote->weights[i]);
    for (uint32_t i = 0; i < vote->count; i++)
        for (int j = 0; j < 2; j++)
            if (vote->samples[i] && function_at(&function, vote->samples[i], level, vote->inward) &&
                candidates[j].lead > 0 && same_function(function, candidates[j].function))
                candidates[j].weight += vote->weights[i];
    second = candidates[1].weight > candidates[0].weight;
    *out = candidates[second].function;
    for (uint32_t i = 0; i < vote->count; i++)
        if (vote->samples[i] &&
            (!function_at(&function, vote->samples[i], level, vote->inward) || !same_function(function, *out)))
            vote->samples[i] = NULL;
    return candidates[second].weight;
}

static uint32_t image_number(const struct blackbox *box, int index)
{
    const struct image *image = &box->images[index];
    uint64_t hash = MIRE_HASH_START;

    if (image->id_size > 0 && image->id_size <= MIRE_BUILD_ID_MAX)
        hash = mire__hash_bytes(hash, image->id, image->id_size);
    else
        hash = mire__hash_text(hash, mire__blackbox_image_path(box, (uint32_t)index));
    return (uint32_t)(hash ^ hash >> 32) | 1;
}

/* A function of a script is the same in every process. */
static struct signature_function function_of_script(const struct blackbox *box, struct function_address function)
{
    uint32_t number = mire__script_number(function.at);

    if (number >= MIRE_SCRIPT_FUNCTIONS_MAX)
        return (struct signature_function){0};
    return (struct signature_function){.at = box->scripts.functions[number].hash, .image = 1, .known = true};
}

static struct signature_function function_of(const struct blackbox *box, struct function_address function)
{
    int index = mire__blackbox_find_image(box, function.at);

    if (mire__is_script(function.at))
        return function_of_script(box, function);

    if (index < 0) /* made at run time: its address differs from run to run */
        return (struct signature_function){0};
    return (struct signature_function){
        .at = function.at - box->images[index].load, .image = image_number(box, index), .known = function.known};
}

static bool is_whole(const struct sample *sample)
{
    return sample->depth > 0 && !(sample->flags & MIRE_SAMPLE_BROKEN);
}

/* The voters: complete stacks if they have most of the weight, otherwise all stacks. */
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
        if (holds(whole, any, MIRE_SIGNATURE_PERCENT) ? !is_whole(sample) : sample->depth == 0)
            continue;
        vote->samples[vote->count] = sample;
        vote->weights[vote->count++] = weight + 1;
        vote->total += weight + 1;
    }
}

static void descend(struct stack_signature *out, const struct blackbox *box, const struct ring *ring, bool inward)
{
    struct vote vote;
    struct function_address function;
    uint64_t weight;

    enrol(&vote, ring, inward);
    out->sure = out->depth = 0;
    out->inward = inward;
    while (out->depth < MIRE_DEPTH_MAX) {
        weight = elect(&function, &vote, out->depth);
        if (!holds(weight, vote.total, MIRE_SIGNATURE_LIKELY_PERCENT))
            return;
        out->functions[out->depth++] = function_of(box, function);
        if (holds(weight, vote.total, MIRE_SIGNATURE_PERCENT))
            out->sure = out->depth; /* weights do not rise from level to level */
    }
}

void mire__signature_find(struct stack_signature *out, const struct blackbox *box, const struct ring *ring)
{
    const struct sample *sample;

    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; (sample = mire__ring_at(NULL, ring, i)); i++)
        if (sample->depth > out->deepest)
            out->deepest = sample->depth;
    descend(out, box, ring, false);
    if (out->sure < 2 && out->deepest > 1)
        descend(out, box, ring, true);
}

bool mire__signature_same(const struct stack_signature *one, const struct stack_signature *other)
{
    uint32_t sure = one->sure > other->sure ? one->sure : other->sure;

    if (one->sure == 0 || other->sure == 0 || one->depth < sure || other->depth < sure || one->inward != other->inward)
        return false;
    for (uint32_t i = 0; i < sure; i++) {
        struct function_address a = {one->functions[i].at, one->functions[i].known != 0};
        struct function_address b = {other->functions[i].at, other->functions[i].known != 0};

        if (one->functions[i].image != other->functions[i].image || !same_function(a, b))
            return false;
    }
    return true;
}

uint64_t mire__signature_number(const struct stack_signature *signature, uint64_t seed)
{
    uint64_t hash = mire__hash_step(MIRE_HASH_START, seed);

    for (uint32_t i = 0; i < signature->sure; i++) {
        const struct signature_function *function = &signature->functions[i];
        uint64_t at = function->known ? function->at : function->at / MIRE_SIGNATURE_DRIFT_BYTES;
        uint64_t words[2] = {at, (uint64_t)function->image << 1 | function->known};

        for (size_t byte = 0; byte < sizeof(words); byte++)
            hash = mire__hash_step(hash, words[byte / 8] >> byte % 8 * 8 & 0xff);
    }
    return hash ? hash : 1;
}
