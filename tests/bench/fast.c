/* fast.c - see fast.h. The n-th occurrence of a function in one stack is paired with the n-th in the other. */
#include "fast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 60, TOKENS_MAX = 1 << 20 };

struct token {
    const char *name;
    unsigned reports, seen; /* seen: last report that counted it, plus one */
};

struct stack {
    uint32_t tokens[FRAMES_MAX];
    double weights[FRAMES_MAX];
    uint32_t count;
    double total;
};

struct fast {
    const struct eclipse_report *reports;
    struct stack *stacks;
    struct token *tokens;
    uint32_t *location; /* by token: position in the question's stack, plus one */
    double by_position[FRAMES_MAX], by_distance[FRAMES_MAX];
};

static uint32_t token_of(struct fast *fast, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) % TOKENS_MAX;
    while (fast->tokens[slot].name && strcmp(fast->tokens[slot].name, name) != 0)
        slot = (slot + 1) % TOKENS_MAX;
    fast->tokens[slot].name = name;
    return slot;
}

static void take(struct fast *fast, size_t at)
{
    const struct eclipse_stack *from = eclipse_longest(&fast->reports[at]);
    struct stack *stack = &fast->stacks[at];
    stack->count = from->count < FRAMES_MAX ? (uint32_t)from->count : FRAMES_MAX;
    for (uint32_t i = 0; i < stack->count; i++) {
        struct token *token = &fast->tokens[stack->tokens[i] = token_of(fast, from->names[i])];
        token->reports += token->seen != at + 1;
        token->seen = (unsigned)at + 1;
    }
}

static void weigh(struct fast *fast, struct stack *stack, size_t known)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        stack->weights[i] = log(1 + (double)known / fast->tokens[stack->tokens[i]].reports) * fast->by_position[i];
        stack->total += stack->weights[i];
    }
}

struct fast *fast_new(const struct eclipse_report *reports, size_t count)
{
    struct fast *fast = calloc(1, sizeof *fast);
    fast->reports = reports;
    fast->stacks = calloc(count + 1, sizeof *fast->stacks);
    fast->tokens = calloc(TOKENS_MAX, sizeof *fast->tokens);
    fast->location = calloc(TOKENS_MAX, sizeof *fast->location);
    for (int i = 0; i < FRAMES_MAX; i++) {
        fast->by_position[i] = exp(-0.1 * i);
        fast->by_distance[i] = exp(-0.2 * i);
    }
    for (size_t i = 0; i < count; i++)
        take(fast, i);
    for (size_t i = 0; i < count; i++)
        weigh(fast, &fast->stacks[i], count);
    return fast;
}

/* The question's stack is in fast->location; `again` has the next position of each function, plus one. */
static double likeness(struct fast *fast, const struct stack *asked, const uint32_t *again, const struct stack *other)
{
    uint32_t used[FRAMES_MAX], used_count = 0;
    double common = 0;
    for (uint32_t i = 0; i < other->count; i++) {
        uint32_t at = fast->location[other->tokens[i]];
        if (!at)
            continue;
        at--;
        common += (asked->weights[at] + other->weights[i]) * fast->by_distance[at > i ? at - i : i - at];
        fast->location[other->tokens[i]] = again[at];
        used[used_count++] = at;
    }
    while (used_count-- > 0)
        fast->location[asked->tokens[used[used_count]]] = used[used_count] + 1;
    return common / (asked->total + other->total);
}

/* Insert an issue among the best. */
static size_t keep(struct similar_hit *hits, size_t cap, size_t got, size_t issue, double score)
{
    size_t at = 0;
    while (at < got && (size_t)hits[at].issue != issue)
        at++;
    if (at == got) {
        if (got == cap && hits[cap - 1].score >= score)
            return got;
        at = got < cap ? got++ : cap - 1;
    } else if (hits[at].score >= score) {
        return got;
    }
    for (; at && hits[at - 1].score < score; at--)
        hits[at] = hits[at - 1];
    hits[at] = (struct similar_hit){.issue = (int64_t)issue, .score = score};
    return got;
}

size_t fast_find(struct similar_hit *hits, size_t cap, size_t *nearest_out, struct fast *fast, size_t at)
{
    const struct stack *asked = &fast->stacks[at];
    uint32_t again[FRAMES_MAX];
    size_t got = 0;
    double best = 0;
    *nearest_out = at;
    for (uint32_t i = asked->count; i-- > 0;) {
        again[i] = fast->location[asked->tokens[i]];
        fast->location[asked->tokens[i]] = i + 1;
    }
    for (size_t k = 0; k < at; k++) {
        if (fast->reports[at].when_s - fast->reports[k].when_s > FAST_WINDOW)
            continue;
        double score = likeness(fast, asked, again, &fast->stacks[k]);
        if (score <= 0)
            continue;
        if (score > best)
            *nearest_out = k;
        best = score > best ? score : best;
        got = keep(hits, cap, got, fast->reports[k].issue, score);
    }
    for (uint32_t i = 0; i < asked->count; i++)
        fast->location[asked->tokens[i]] = 0;
    return got;
}
