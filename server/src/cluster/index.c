/* index.c - known stacks: tokens in a hash table, the rest in arrays that only grow. */
#include "cluster/index.h"

#include "base/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double decay = 0.1; /* weight lost per frame outward */
static const double moved = 0.1; /* and per frame of distance */

struct similar *similar_new(void)
{
    struct similar *similar = calloc(1, sizeof(*similar));
    if (!similar)
        return NULL;
    for (int i = 0; i < MIRE_SIMILAR_FRAMES; i++) {
        similar->by_position[i] = exp(-decay * i);
        similar->by_distance[i] = exp(-moved * i);
    }
    return similar;
}

void similar_free(struct similar *similar)
{
    if (!similar)
        return;
    free(similar->tokens);
    free(similar->slots);
    free(similar->posts);
    free(similar->frames);
    free(similar->members);
    free(similar->location);
    free(similar->ballot);
    free(similar);
}

size_t similar_count(const struct similar *similar)
{
    return similar->member_count;
}

/* Make room for `more` elements after `count`; new elements are zero. */
static int grow(void **array, uint32_t *cap, uint32_t count, uint32_t more, size_t size)
{
    if (more <= *cap - count)
        return 0;
    uint64_t want = *cap ? *cap : 64;
    while (want < (uint64_t)count + more)
        want *= 2;
    if (want >= MIRE_SIMILAR_NONE)
        return MIRE_FAULT_MEMORY;
    void *bigger = realloc(*array, want * size);
    if (!bigger)
        return MIRE_FAULT_MEMORY;
    memset((char *)bigger + *cap * size, 0, (want - *cap) * size);
    *array = bigger;
    *cap = (uint32_t)want;
    return 0;
}

static uint32_t slot_of(const struct similar *similar, uint64_t name)
{
    uint32_t mask = similar->slot_cap - 1;
    uint32_t slot = (uint32_t)((name * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (similar->slots[slot] && similar->tokens[similar->slots[slot] - 1].name != name)
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t index_find(const struct similar *similar, uint64_t name)
{
    return similar->slot_cap ? similar->slots[slot_of(similar, name)] - 1 : MIRE_SIMILAR_NONE; /* of 0 - 1 too */
}

static int widen_slots(struct similar *similar, uint32_t more)
{
    uint64_t want = similar->slot_cap ? similar->slot_cap : 1024;

    while (want < ((uint64_t)similar->token_count + more) * 2)
        want *= 2;
    if (want == similar->slot_cap)
        return 0;
    uint32_t *slots = want < MIRE_SIMILAR_NONE ? calloc(want, sizeof(*slots)) : NULL;
    if (!slots)
        return MIRE_FAULT_MEMORY;
    free(similar->slots);
    similar->slots = slots;
    similar->slot_cap = (uint32_t)want;
    for (uint32_t i = 0; i < similar->token_count; i++)
        slots[slot_of(similar, similar->tokens[i].name)] = i + 1;
    return 0;
}

/* similar_add has made room. */
static uint32_t put_token(struct similar *similar, uint64_t name)
{
    uint32_t slot = slot_of(similar, name);
    if (!similar->slots[slot]) {
        similar->tokens[similar->token_count] = (struct token){.name = name, .posts = MIRE_SIMILAR_NONE};
        similar->slots[slot] = ++similar->token_count;
    }
    return similar->slots[slot] - 1;
}

static void note_post(struct similar *similar, uint32_t token, uint32_t member)
{
    struct token *known = &similar->tokens[token];
    if (known->posts != MIRE_SIMILAR_NONE && similar->posts[known->posts].member == member)
        return;
    similar->posts[similar->post_count] = (struct post){member, known->posts};
    known->posts = similar->post_count++;
    known->members++;
}

static int make_room(struct similar *similar, uint32_t frames)
{
    int rc = grow((void **)&similar->tokens, &similar->token_cap, similar->token_count, frames, sizeof(struct token));
    if (!rc)
        rc = widen_slots(similar, frames);
    if (!rc)
        rc = grow((void **)&similar->posts, &similar->post_cap, similar->post_count, frames, sizeof(struct post));
    if (!rc)
        rc = grow((void **)&similar->frames, &similar->frame_cap, similar->frame_count, frames, sizeof(uint32_t));
    if (!rc)
        rc = grow((void **)&similar->members, &similar->member_cap, similar->member_count, 1, sizeof(struct member));
    if (!rc)
        rc = grow((void **)&similar->location, &similar->place_cap, 0, similar->token_cap, sizeof(uint32_t));
    if (!rc)
        rc = grow((void **)&similar->ballot, &similar->ballot_cap, 0, similar->member_cap, sizeof(uint32_t));
    return rc;
}

int similar_add(struct similar *similar, int64_t issue, int64_t when_s, const struct similar_stack *stacks,
                size_t stack_count)
{
    int rc = make_room(similar, MIRE_SIMILAR_STACKS * MIRE_SIMILAR_FRAMES);
    if (rc)
        return rc;
    uint32_t number = similar->member_count;
    struct member member = {.issue = issue, .when_s = when_s};
    for (size_t s = 0; s < stack_count && member.stack_count < MIRE_SIMILAR_STACKS; s++) {
        struct stack stack = {.at = similar->frame_count};
        uint64_t last = 0;
        for (size_t i = 0; i < stacks[s].count && stack.count < MIRE_SIMILAR_FRAMES; i++) {
            uint64_t name = stacks[s].frames[i];
            if (i && name == last)
                continue;
            last = name;
            uint32_t token = put_token(similar, name);
            note_post(similar, token, number);
            similar->frames[stack.at + stack.count++] = token;
        }
        if (!stack.count)
            continue;
        similar->frame_count += stack.count;
        member.stacks[member.stack_count++] = stack;
    }

    if (member.stack_count)
        similar->members[similar->member_count++] = member;
    return 0;
}

double index_weight_for(const struct similar *similar, uint32_t members)
{
    double idf = log(1 + (double)similar->member_count / (members ? members : 1));
    return idf * idf;
}

double index_weight(struct similar *similar, uint32_t token)
{
    if (token == MIRE_SIMILAR_NONE)
        return index_weight_for(similar, 1);
    struct token *known = &similar->tokens[token];
    if (!known->weighed || similar->member_count - known->weighed > known->weighed / 100) {
        known->weight = index_weight_for(similar, known->members);
        known->weighed = similar->member_count;
    }
    return known->weight;
}
