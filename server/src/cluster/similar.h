/*
 * similar.h - finds the known issues with similar stacks: frame by frame, in linear time.
 *
 *     asked   parse  readLine  load   onOpen  dispatch  main        0.83
 *     known   parse  fill      load   onOpen  dispatch  main
 *             `----- the same, near the same place: rare and inner frames weigh most
 *
 * A frame weighs idf^2 * exp(-0.1 * position), with idf = ln(1 + members / members with the frame), and the position
 * counted from the innermost frame; a function that repeats in a row is one frame. The likeness of two stacks is the
 * part of their weight that they share; a shared frame counts exp(-0.1 * its move). A constant in the denominator keeps
 * short stacks from certainty. The likeness of an issue is that of its best member, times exp(-0.5 * years since it was
 * last seen). Rodrigues et al., "FaST", MSR 2022, weight frames in this way; the age is from Karasov et al.,
 * "Aggregation of Stack Trace Similarities for Crash Report Deduplication", 2022. Votes of the other members of an
 * issue, as in Karasov et al., favour large issues; without votes the accepted suggestions agree better with people.
 * 0.5 was chosen on the older reports, which tests/bench/bench_clusters.c does not measure.
 *
 * This module suggests and explains. It merges nothing.
 *
 * One thread at a time. A function that runs out of memory returns MIRE_FAULT_MEMORY and has changed nothing.
 */
#ifndef MIRE_CLUSTER_SIMILAR_H
#define MIRE_CLUSTER_SIMILAR_H

#include <stddef.h>
#include <stdint.h>

#define MIRE_SIMILAR_FRAMES 60 /* of a stack, from the innermost; the rest is the way into the program */
#define MIRE_SIMILAR_STACKS 3  /* of a member */

struct similar_stack {
    const uint64_t *frames; /* borrowed: hashes of function names, innermost first */
    size_t count;
};

struct similar;

/* NULL: no memory. */
struct similar *similar_new(void);
void similar_free(struct similar *similar);

/*
 * Add a member of an issue: a report, or a stack that stands for reports.
 *
 *   issue   any number
 *   when_s  time it happened, seconds
 *   stacks  borrowed; the first MIRE_SIMILAR_STACKS count
 *
 * Returns 0 or MIRE_FAULT_MEMORY. A member without frames is not kept.
 */
int similar_add(struct similar *similar, int64_t issue, int64_t when_s, const struct similar_stack *stacks,
                size_t stack_count);

struct similar_hit {
    int64_t issue;
    double score;     /* 0 nothing in common; 1 equal; reduced by age */
    double best;      /* of its most similar member, without age, 0..1 */
    int64_t newest_s; /* time of the newest of its members that are about as similar */
    uint32_t member;  /* the number of that member in the order of similar_add, from 0 */
    uint32_t asked;   /* the most similar stack of the query */
    uint32_t heard;   /* compared members */
};

struct similar_question {
    const struct similar_stack *stacks; /* borrowed; the first MIRE_SIMILAR_STACKS count */
    size_t count;
    /* The issue of a member now; below zero: none. NULL: the issue of similar_add. */
    int64_t (*issue_of)(void *context, uint32_t member);
    void *context;
};

/*
 * The issues most similar to these stacks, best first.
 *
 *   hits    room for `cap`
 *
 * Returns 0, with *got_out <= cap, or MIRE_FAULT_MEMORY.
 */
int similar_find(struct similar_hit *hits, size_t cap, size_t *got_out, struct similar *similar,
                 const struct similar_question *question);

/* Reduce the scores of issues that ended before the query's first event, and sort again. `gaps_s`
 * has the gap of each hit in seconds, 0 or less if both were seen at the same time. */
void similar_age(struct similar_hit *hits, size_t count, const int64_t *gaps_s);

/* One frame in common. */
struct similar_pair {
    uint32_t left, right; /* frames as given */
    double weight;        /* its part of the likeness; the parts add up to it */
};

struct similar_evidence {
    struct similar_pair pairs[MIRE_SIMILAR_FRAMES]; /* in order of `right` */
    size_t count;
    double likeness; /* of the two stacks */
};

/* Explain the likeness of two stacks by the present index. */
void similar_explain(struct similar_evidence *out, struct similar *similar, const struct similar_stack *left,
                     const struct similar_stack *right);

/* The number of members. */
size_t similar_count(const struct similar *similar);

#endif
