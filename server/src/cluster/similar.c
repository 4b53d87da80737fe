/*
 * similar.c - a comparison that walks each stack once.
 *
 * A query visits the members that share its rarest frames, at most MIRE_SIMILAR_POSTS. The SIMILAR_SCORED members that
 * share most are compared in full.
 */
#include "cluster/index.h"

#include "base/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIMILAR_SCORED 256 /* members compared */
#define NONE           MIRE_SIMILAR_NONE

static const double ageing = 0.5; /* per year */
static const double year_s = 365 * 86400.0;

/* One stack of a query. */
struct question {
    uint32_t tokens[MIRE_SIMILAR_FRAMES];
    uint32_t given[MIRE_SIMILAR_FRAMES]; /* position in the given stack */
    uint32_t again[MIRE_SIMILAR_FRAMES]; /* the next position of the same function, + 1; 0 none */
    double weights[MIRE_SIMILAR_FRAMES];
    uint32_t count;
    double total;
};

static void ask(struct question *asked, struct similar *similar, const struct similar_stack *stack)
{
    *asked = (struct question){.count = 0};
    uint64_t last = 0;
    for (size_t i = 0; i < stack->count && asked->count < MIRE_SIMILAR_FRAMES; i++) {
        if (i && stack->frames[i] == last)
            continue;
        last = stack->frames[i];
        uint32_t token = index_find(similar, last);
        asked->tokens[asked->count] = token;
        asked->given[asked->count] = (uint32_t)i;
        asked->weights[asked->count] = index_weight(similar, token) * similar->by_position[asked->count];
        asked->total += asked->weights[asked->count++];
    }
}

/* Store the first position of each function of the stack. Undone by unplace. */
static void location(struct similar *similar, struct question *asked)
{
    for (uint32_t i = asked->count; i-- > 0;) {
        if (asked->tokens[i] == NONE)
            continue;
        asked->again[i] = similar->location[asked->tokens[i]];
        similar->location[asked->tokens[i]] = i + 1;
    }
}

static void unplace(struct similar *similar, const struct question *asked)
{
    for (uint32_t i = 0; i < asked->count; i++)
        if (asked->tokens[i] != NONE)
            similar->location[asked->tokens[i]] = 0;
}

/* A known stack, or another stack of the query. */
struct other {
    const uint32_t *tokens;
    uint32_t count;
};

/* Likeness of two stacks, 0..1. The n-th occurrence of a function in one is paired with the n-th in the other. `why`
 * gets the pairs, unless it is NULL. */
static double likeness(struct similar *similar, const struct question *asked, const struct other *other,
                       struct similar_evidence *why)
{
    double common = 0, total = 0;
    uint32_t used[MIRE_SIMILAR_FRAMES], used_count = 0;

    for (uint32_t i = 0; i < other->count; i++) {
        double weight = index_weight(similar, other->tokens[i]) * similar->by_position[i];
        total += weight;
        uint32_t at = other->tokens[i] == NONE ? 0 : similar->location[other->tokens[i]];
        if (!at)
            continue;
        at--;
        double gained = (weight + asked->weights[at]) * similar->by_distance[at > i ? at - i : i - at];
        common += gained;
        similar->location[other->tokens[i]] = asked->again[at];
        used[used_count++] = at;
        if (why)
            why->pairs[why->count++] = (struct similar_pair){at, i, gained};
    }

    while (used_count-- > 0)
        similar->location[asked->tokens[used[used_count]]] = used[used_count] + 1;
    double all = total + asked->total + index_weight_for(similar, 1);
    for (size_t i = 0; why && i < why->count; i++)
        why->pairs[i].weight /= all;
    return common / all;
}

void similar_explain(struct similar_evidence *out, struct similar *similar, const struct similar_stack *left,
                     const struct similar_stack *right)
{
    struct question a, b;

    *out = (struct similar_evidence){.count = 0};
    if (!similar->member_count)
        return;
    ask(&a, similar, left);
    ask(&b, similar, right);
    location(similar, &a);
    out->likeness = likeness(similar, &a, &(struct other){b.tokens, b.count}, out);
    unplace(similar, &a);
    for (size_t i = 0; i < out->count; i++) {
        out->pairs[i].left = a.given[out->pairs[i].left];
        out->pairs[i].right = b.given[out->pairs[i].right];
    }
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

/* Members that share the rarest frames, most shared first. Returns their number. */
static uint32_t vote(struct similar *similar, const struct question *asked, size_t asked_count)
{
    const struct token *rare[MIRE_SIMILAR_STACKS * MIRE_SIMILAR_FRAMES];
    size_t rare_count = 0;

    for (size_t s = 0; s < asked_count; s++)
        for (uint32_t i = 0; i < asked[s].count; i++)
            if (asked[s].tokens[i] != NONE)
                rare[rare_count++] = &similar->tokens[asked[s].tokens[i]];
    qsort(rare, rare_count, sizeof(struct token *), by_rarity);
    uint32_t count = 0, looked = 0;
    for (size_t i = 0; i < rare_count; i++) {
        double weight = index_weight(similar, (uint32_t)(rare[i] - similar->tokens));
        for (uint32_t at = rare[i]->posts; at != NONE && looked < MIRE_SIMILAR_POSTS; at = similar->posts[at].older) {
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
    return count;
}

struct scored {
    int64_t issue;
    int64_t when_s;
    double score;
    uint32_t member, asked;
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

/* The best member stands for its issue. Votes of the other members would favour big issues. */
static struct similar_hit hear(const struct scored *members, uint32_t count)
{
    struct similar_hit hit = {.issue = members[0].issue,
                              .score = members[0].score,
                              .best = members[0].score,
                              .newest_s = members[0].when_s,
                              .member = members[0].member,
                              .asked = members[0].asked,
                              .heard = count};

    for (uint32_t i = 1; i < count; i++)
        if (2 * members[i].score >= members[0].score && members[i].when_s > hit.newest_s)
            hit.newest_s = members[i].when_s;
    return hit;
}

/* Compare the voted members with every stack of the query, and keep the best score of each. */
static void score(struct scored *scored, uint32_t count, struct similar *similar, struct question *asked,
                  uint32_t asked_count)
{
    for (uint32_t s = 0; s < asked_count; s++) {
        location(similar, &asked[s]);
        for (uint32_t i = 0; i < count; i++) {
            const struct member *member = &similar->members[scored[i].member];
            for (uint32_t k = 0; k < member->stack_count; k++) {
                const struct stack *stack = &member->stacks[k];
                const struct other other = {similar->frames + stack->at, stack->count};
                double found = likeness(similar, &asked[s], &other, NULL);
                if (found <= scored[i].score)
                    continue;
                scored[i].score = found;
                scored[i].asked = s;
            }
        }
        unplace(similar, &asked[s]);
    }
}

/* Voted members that count for an issue. */
static uint32_t choose(struct scored scored[SIMILAR_SCORED], const struct similar *similar,
                       const struct similar_question *question, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count && kept < SIMILAR_SCORED; i++) {
        uint32_t number = similar->votes[i].member;
        const struct member *member = &similar->members[number];
        int64_t issue = question->issue_of ? question->issue_of(question->context, number) : member->issue;
        if (issue >= 0 || !question->issue_of)
            scored[kept++] = (struct scored){issue, member->when_s, 0, number, 0};
    }
    return kept;
}

int similar_find(struct similar_hit *hits, size_t cap, size_t *got_out, struct similar *similar,
                 const struct similar_question *question)
{
    *got_out = 0;
    if (!similar->member_count || !cap)
        return 0;
    struct question asked[MIRE_SIMILAR_STACKS];
    uint32_t asked_count = 0;
    for (size_t s = 0; s < question->count && s < MIRE_SIMILAR_STACKS; s++)
        ask(&asked[asked_count++], similar, &question->stacks[s]);
    struct scored scored[SIMILAR_SCORED];
    uint32_t count = choose(scored, similar, question, vote(similar, asked, asked_count));
    score(scored, count, similar, asked, asked_count);
    qsort(scored, count, sizeof(struct scored), by_issue);
    struct similar_hit all[SIMILAR_SCORED];
    size_t found = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && scored[end].issue == scored[i].issue;)
            end++;
        all[found++] = hear(scored + i, end - i);
    }

    qsort(all, found, sizeof(struct similar_hit), by_score);
    *got_out = found < cap ? found : cap;
    memcpy(hits, all, *got_out * sizeof(struct similar_hit));
    return 0;
}

void similar_age(struct similar_hit *hits, size_t count, const int64_t *gaps_s)
{
    for (size_t i = 0; i < count; i++)
        if (gaps_s[i] > 0)
            hits[i].score *= exp(-ageing * (double)gaps_s[i] / year_s);
    qsort(hits, count, sizeof(struct similar_hit), by_score);
}
