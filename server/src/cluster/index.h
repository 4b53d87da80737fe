/*
 * index.h - the inverted index of similar.h: from a frame to the members that have it. Inside cluster/ only.
 *
 *     tokens   function -> how many members have it -> posts, newest first -> members -> stacks -> frames (tokens)
 */
#ifndef MIRE_CLUSTER_INDEX_H
#define MIRE_CLUSTER_INDEX_H

#include "cluster/similar.h"

#define MIRE_SIMILAR_POSTS 16384 /* members looked up for one query */
#define MIRE_SIMILAR_NONE  UINT32_MAX

struct token {
    uint64_t name;
    uint32_t members; /* members with this frame */
    uint32_t posts;   /* the newest, or MIRE_SIMILAR_NONE */
    double weight;    /* idf squared, as of `weighed` members */
    uint32_t weighed;
};

struct post {
    uint32_t member;
    uint32_t older; /* MIRE_SIMILAR_NONE at the end */
};

struct stack {
    uint32_t at; /* in `frames` */
    uint32_t count;
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
    uint32_t *location; /* of a token in the stack asked about, + 1 */
    uint32_t place_cap;
    uint32_t *ballot; /* of a member in `votes`, + 1 */
    uint32_t ballot_cap;
    struct vote votes[MIRE_SIMILAR_POSTS];
    double by_position[MIRE_SIMILAR_FRAMES];
    double by_distance[MIRE_SIMILAR_FRAMES];
};

/* The number of a function's token; MIRE_SIMILAR_NONE: no member has it. */
uint32_t index_find(const struct similar *similar, uint64_t name);

/* Weight of a frame by the number of members that have it. A token's weight depends on the number of members, so it is
 * computed again after a growth of one per cent. */
double index_weight_for(const struct similar *similar, uint32_t members);
double index_weight(struct similar *similar, uint32_t token);

#endif
