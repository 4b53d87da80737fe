/*
 * similar.c - an inverted index from frames to members, and a comparison that walks each stack once.
 *
 * A question goes through the members that share its rarest frames, SIMILAR_POSTS of them at most, keeps the
 * SIMILAR_SCORED that share most, and compares those in full.
 */
#include "cluster/similar.h"

#include "base/fault.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIMILAR_POSTS  16384 /* members looked up for one question */
#define SIMILAR_SCORED 256   /* of them compared */
#define SIMILAR_HEARD  6     /* members of one issue that have a say */
#define NONE           UINT32_MAX

static const double decay = 0.1;      /* weight lost per frame outward */
static const double moved = 0.1;      /* and per frame of distance */
static const double topic_part = 0.5; /* of a frame's weight */
static const double chorus = 0.1;     /* what the second best member adds, halved, thirded, ... for the others */
static const double ageing = 0.1;     /* per year */
static const double year_s = 365 * 86400.0;

struct token {
    uint64_t name;
    uint32_t members; /* that have it */
    uint32_t posts;   /* the newest, or NONE */
    double weight;    /* idf squared, as of `weighed` members */
    uint32_t weighed;
};

struct post {
    uint32_t member;
    uint32_t older; /* NONE at the end */
};

struct stack {
    uint32_t at; /* in `frames` */
    uint32_t count;
    uint32_t topic; /* token, or NONE */
};

struct member {
    int64_t issue;
    int64_t when_s;
    struct stack stacks[MIRE_SIMILAR_STACKS];
    uint32_t stack_count;
};

struct vote {
    uint32_t member;
    double weight;
};

struct similar {
    struct token *tokens;
    uint32_t token_count, token_cap;
    uint32_t *slots; /* of a hash table of tokens: number + 1 */
    uint32_t slot_cap;
    struct post *posts;
    uint32_t post_count, post_cap;
    uint32_t *frames; /* tokens */
    uint32_t frame_count, frame_cap;
    struct member *members;
    uint32_t member_count, member_cap;
    uint32_t *place; /* of a token in the stack asked about, + 1; member_of[]'s like for votes */
    uint32_t place_cap;
    uint32_t *ballot; /* of a member in `votes`, + 1 */
    uint32_t ballot_cap;
    struct vote votes[SIMILAR_POSTS];
    double by_position[MIRE_SIMILAR_FRAMES];
    double by_distance[MIRE_SIMILAR_FRAMES];
};

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
    free(similar->place);
    free(similar->ballot);
    free(similar);
}

size_t similar_count(const struct similar *similar)
{
    return similar->member_count;
}

/* Room for `more` elements after `count`; what is new is zero. */
static int grow(void **array, uint32_t *cap, uint32_t count, uint32_t more, size_t size)
{
    if (more <= *cap - count)
        return 0;
    uint64_t want = *cap ? *cap : 64;
    while (want < (uint64_t)count + more)
        want *= 2;
    if (want >= NONE)
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

static uint32_t find_token(const struct similar *similar, uint64_t name)
{
    return similar->slot_cap ? similar->slots[slot_of(similar, name)] - 1 : NONE;
}

static int widen_slots(struct similar *similar, uint32_t more)
{
    uint64_t want = similar->slot_cap ? similar->slot_cap : 1024;
    while (want < ((uint64_t)similar->token_count + more) * 2)
        want *= 2;
    if (want == similar->slot_cap)
        return 0;
    uint32_t *slots = want < NONE ? calloc(want, sizeof(*slots)) : NULL;
    if (!slots)
        return MIRE_FAULT_MEMORY;
    free(similar->slots);
    similar->slots = slots;
    similar->slot_cap = (uint32_t)want;
    for (uint32_t i = 0; i < similar->token_count; i++)
        slots[slot_of(similar, similar->tokens[i].name)] = i + 1;
    return 0;
}

/* There is room: similar_add has seen to it. */
static uint32_t put_token(struct similar *similar, uint64_t name)
{
    uint32_t slot = slot_of(similar, name);
    if (!similar->slots[slot]) {
        similar->tokens[similar->token_count] = (struct token){.name = name, .posts = NONE};
        similar->slots[slot] = ++similar->token_count;
    }
    return similar->slots[slot] - 1;
}

static void note_post(struct similar *similar, uint32_t token, uint32_t member)
{
    struct token *known = &similar->tokens[token];
    if (known->posts != NONE && similar->posts[known->posts].member == member)
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
        rc = grow((void **)&similar->place, &similar->place_cap, 0, similar->token_cap, sizeof(uint32_t));
    if (!rc)
        rc = grow((void **)&similar->ballot, &similar->ballot_cap, 0, similar->member_cap, sizeof(uint32_t));
    return rc;
}

int similar_add(struct similar *similar, int64_t issue, int64_t when_s, const struct similar_stack *stacks,
                size_t stack_count)
{
    int rc = make_room(similar, MIRE_SIMILAR_STACKS * (MIRE_SIMILAR_FRAMES + 1));
    if (rc)
        return rc;
    uint32_t number = similar->member_count;
    struct member member = {.issue = issue, .when_s = when_s};
    for (size_t s = 0; s < stack_count && member.stack_count < MIRE_SIMILAR_STACKS; s++) {
        struct stack stack = {.at = similar->frame_count, .topic = NONE};
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
        if (stacks[s].topic) {
            stack.topic = put_token(similar, stacks[s].topic);
            note_post(similar, stack.topic, number);
        }
        similar->frame_count += stack.count;
        member.stacks[member.stack_count++] = stack;
    }
    if (member.stack_count)
        similar->members[similar->member_count++] = member;
    return 0;
}

static double weight_for(const struct similar *similar, uint32_t members)
{
    double idf = log(1 + (double)similar->member_count / (members ? members : 1));
    return idf * idf;
}

/* A token's weight moves with the number of members: it is found anew when that has grown by a hundredth. */
static double weight_of(struct similar *similar, uint32_t token)
{
    if (token == NONE)
        return weight_for(similar, 1);
    struct token *known = &similar->tokens[token];
    if (!known->weighed || similar->member_count - known->weighed > known->weighed / 100) {
        known->weight = weight_for(similar, known->members);
        known->weighed = similar->member_count;
    }
    return known->weight;
}

/* One stack asked about. */
struct asked {
    uint32_t tokens[MIRE_SIMILAR_FRAMES];
    uint32_t again[MIRE_SIMILAR_FRAMES]; /* where the same function stands next, + 1; 0 nowhere */
    double weights[MIRE_SIMILAR_FRAMES];
    uint32_t count;
    uint32_t topic;
    double topic_weight;
    double total;
};

static void ask(struct asked *asked, struct similar *similar, const struct similar_stack *stack)
{
    *asked = (struct asked){.topic = NONE};
    uint64_t last = 0;
    for (size_t i = 0; i < stack->count && asked->count < MIRE_SIMILAR_FRAMES; i++) {
        if (i && stack->frames[i] == last)
            continue;
        last = stack->frames[i];
        uint32_t token = find_token(similar, last);
        asked->tokens[asked->count] = token;
        asked->weights[asked->count] = weight_of(similar, token) * similar->by_position[asked->count];
        asked->total += asked->weights[asked->count++];
    }
    if (stack->topic) {
        asked->topic = find_token(similar, stack->topic);
        asked->topic_weight = topic_part * weight_of(similar, asked->topic);
        asked->total += asked->topic_weight;
    }
}

/* Note where each function of the stack stands first. Undone by unplace. */
static void place(struct similar *similar, struct asked *asked)
{
    for (uint32_t i = asked->count; i-- > 0;) {
        if (asked->tokens[i] == NONE)
            continue;
        asked->again[i] = similar->place[asked->tokens[i]];
        similar->place[asked->tokens[i]] = i + 1;
    }
}

static void unplace(struct similar *similar, const struct asked *asked)
{
    for (uint32_t i = 0; i < asked->count; i++)
        if (asked->tokens[i] != NONE)
            similar->place[asked->tokens[i]] = 0;
}

/* How alike two stacks are, 0..1. The n-th time a function stands in one is paired with the n-th in the other. */
static double likeness(struct similar *similar, const struct asked *asked, const struct stack *stack)
{
    double common = 0, total = 0;
    const uint32_t *frames = similar->frames + stack->at;
    uint32_t used[MIRE_SIMILAR_FRAMES], used_count = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        double weight = weight_of(similar, frames[i]) * similar->by_position[i];
        total += weight;
        uint32_t at = similar->place[frames[i]];
        if (!at)
            continue;
        at--;
        uint32_t distance = at > i ? at - i : i - at;
        common += (weight + asked->weights[at]) * similar->by_distance[distance];
        similar->place[frames[i]] = asked->again[at];
        used[used_count++] = at;
    }
    while (used_count-- > 0)
        similar->place[asked->tokens[used[used_count]]] = used[used_count] + 1;
    if (stack->topic != NONE) {
        double weight = topic_part * weight_of(similar, stack->topic);
        total += weight;
        if (stack->topic == asked->topic)
            common += weight + asked->topic_weight;
    }
    return common / (total + asked->total + weight_for(similar, 1));
}

static int by_rarity(const void *a, const void *b)
{
    const struct token *const *left = a, *const *right = b;
    return ((*left)->members > (*right)->members) - ((*left)->members < (*right)->members);
}

static int by_votes(const void *a, const void *b)
{
    const struct vote *left = a, *right = b;
    return (left->weight < right->weight) - (left->weight > right->weight);
}

/* Members that share the rarest frames, those that share most first. Returns how many. */
static uint32_t vote(struct similar *similar, const struct asked *asked, size_t asked_count)
{
    const struct token *rare[MIRE_SIMILAR_STACKS * (MIRE_SIMILAR_FRAMES + 1)];
    size_t rare_count = 0;
    for (size_t s = 0; s < asked_count; s++) {
        for (uint32_t i = 0; i < asked[s].count; i++)
            if (asked[s].tokens[i] != NONE)
                rare[rare_count++] = &similar->tokens[asked[s].tokens[i]];
        if (asked[s].topic != NONE)
            rare[rare_count++] = &similar->tokens[asked[s].topic];
    }
    qsort(rare, rare_count, sizeof(struct token *), by_rarity);
    uint32_t count = 0, looked = 0;
    for (size_t i = 0; i < rare_count; i++) {
        double weight = weight_of(similar, (uint32_t)(rare[i] - similar->tokens));
        for (uint32_t at = rare[i]->posts; at != NONE && looked < SIMILAR_POSTS; at = similar->posts[at].older) {
            uint32_t member = similar->posts[at].member;
            looked++;
            if (!similar->ballot[member]) {
                similar->votes[count] = (struct vote){member, 0};
                similar->ballot[member] = ++count;
            }
            similar->votes[similar->ballot[member] - 1].weight += weight;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        similar->ballot[similar->votes[i].member] = 0;
    qsort(similar->votes, count, sizeof(struct vote), by_votes);
    return count < SIMILAR_SCORED ? count : SIMILAR_SCORED;
}

struct scored {
    int64_t issue;
    int64_t when_s;
    double score;
    uint32_t member;
};

static int by_issue(const void *a, const void *b)
{
    const struct scored *left = a, *right = b;
    if (left->issue != right->issue)
        return left->issue < right->issue ? -1 : 1;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return (left->member > right->member) - (left->member < right->member);
}

static int by_score(const void *a, const void *b)
{
    const struct similar_hit *left = a, *right = b;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return (left->issue > right->issue) - (left->issue < right->issue);
}

/* The members of one issue, best first, have their say. */
static struct similar_hit hear(const struct scored *members, uint32_t count, int64_t now_s)
{
    struct similar_hit hit = {members[0].issue, members[0].score, members[0].score, members[0].member};
    int64_t newest = members[0].when_s;
    for (uint32_t i = 1; i < count; i++) {
        if (i < SIMILAR_HEARD)
            hit.score += chorus * members[i].score / (i + 1);
        if (2 * members[i].score >= members[0].score && members[i].when_s > newest)
            newest = members[i].when_s;
    }
    if (now_s > newest)
        hit.score *= exp(-ageing * (double)(now_s - newest) / year_s);
    return hit;
}

int similar_find(struct similar_hit *hits, size_t cap, size_t *got_out, struct similar *similar,
                 const struct similar_stack *stacks, size_t stack_count, int64_t now_s)
{
    *got_out = 0;
    if (!similar->member_count || !cap)
        return 0;
    struct asked asked[MIRE_SIMILAR_STACKS];
    size_t asked_count = 0;
    for (size_t s = 0; s < stack_count && asked_count < MIRE_SIMILAR_STACKS; s++)
        if (stacks[s].count)
            ask(&asked[asked_count++], similar, &stacks[s]);
    uint32_t count = vote(similar, asked, asked_count);
    struct scored scored[SIMILAR_SCORED];
    for (uint32_t i = 0; i < count; i++) {
        const struct member *member = &similar->members[similar->votes[i].member];
        scored[i] = (struct scored){member->issue, member->when_s, 0, similar->votes[i].member};
    }
    for (size_t s = 0; s < asked_count; s++) {
        place(similar, &asked[s]);
        for (uint32_t i = 0; i < count; i++) {
            const struct member *member = &similar->members[scored[i].member];
            for (uint32_t k = 0; k < member->stack_count; k++) {
                double score = likeness(similar, &asked[s], &member->stacks[k]);
                if (score > scored[i].score)
                    scored[i].score = score;
            }
        }
        unplace(similar, &asked[s]);
    }
    qsort(scored, count, sizeof(struct scored), by_issue);
    struct similar_hit all[SIMILAR_SCORED];
    size_t found = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && scored[end].issue == scored[i].issue;)
            end++;
        all[found++] = hear(scored + i, end - i, now_s);
    }
    qsort(all, found, sizeof(struct similar_hit), by_score);
    *got_out = found < cap ? found : cap;
    memcpy(hits, all, *got_out * sizeof(struct similar_hit));
    return 0;
}
