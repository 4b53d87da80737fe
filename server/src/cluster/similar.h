/*
 * similar.h - which known issues look like this one: stacks compared frame by frame, in linear time.
 *
 *     asked   parse  readLine  load   onOpen  dispatch  main        0.83
 *     known   parse  fill      load   onOpen  dispatch  main
 *             `----- the same, near the same place: rare and inner frames weigh most
 *
 * A frame weighs idf^2 * exp(-0.1 * position): idf = ln(1 + members / members that have it), position counted from the
 * innermost frame, a function that repeats in a row being one frame. Two stacks are as alike as the share of their
 * weight that they have in common; a frame in common counts exp(-0.1 * how far it has moved). A constant in the
 * denominator keeps stacks that hardly say anything from being sure. An issue is as alike as its best member; it loses
 * exp(-0.5 * years) by not having been seen since (Rodrigues et al., "FaST", MSR 2022, weights frames so; age is from
 * Karasov et al., "Aggregation of Stack Trace Similarities for Crash Report Deduplication", 2022). Votes of an issue's
 * other members, as the latter have them, make large issues grow: without them accepted suggestions agree better with
 * people. 0.5 was chosen on the older reports that tests/bench/bench_clusters.c does not measure.
 *
 * Nothing is merged here: this suggests, and says why.
 *
 * One thread at a time. Functions that can run out of memory return MIRE_FAULT_MEMORY and have changed nothing.
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
 * Make known what belongs to an issue: a report, or what stands for it.
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
    double score;     /* 0 nothing in common; 1 the same; less for its age */
    double best;      /* its most similar member alone, 0..1 */
    int64_t newest_s; /* time of the newest of its members that are about as alike */
    uint32_t member;  /* that member: its number in order of similar_add, from 0 */
    uint32_t asked;   /* the stack asked about that it is most like */
    uint32_t heard;   /* members that were compared */
};

struct similar_question {
    const struct similar_stack *stacks; /* borrowed; the first MIRE_SIMILAR_STACKS count */
    size_t count;
    /* Which issue a member counts for now; below zero: for none. NULL: the one it was added with. */
    int64_t (*issue_of)(void *context, uint32_t member);
    void *context;
};

/*
 * The issues most like these stacks, best first.
 *
 *   hits    room for `cap`
 *
 * Returns 0, with *got_out <= cap, or MIRE_FAULT_MEMORY.
 */
int similar_find(struct similar_hit *hits, size_t cap, size_t *got_out, struct similar *similar,
                 const struct similar_question *question);

/* Count for less what was not seen any more when the stacks asked about came, and sort again: `gaps_s` has a number for
 * each hit, seconds from the one to the other, 0 or less where they were seen at the same time. */
void similar_age(struct similar_hit *hits, size_t count, const int64_t *gaps_s);

/* One frame that two stacks have in common. */
struct similar_pair {
    uint32_t left, right; /* frames as given */
    double weight;        /* its part of the likeness: they add up to it */
};

struct similar_evidence {
    struct similar_pair pairs[MIRE_SIMILAR_FRAMES]; /* in order of `right` */
    size_t count;
    double likeness; /* of the two stacks */
};

/* Why two stacks are as alike as they are, as of what is known by now. */
void similar_explain(struct similar_evidence *out, struct similar *similar, const struct similar_stack *left,
                     const struct similar_stack *right);

/* How many members are known. */
size_t similar_count(const struct similar *similar);

#endif
