/*
 * belt.h - writes down what a pack numbers, beside it if there is a thread for that. Inside cache/ only.
 *
 *     pack --> [ parts: segments, scopes, texts ] --> blocks, scopes and texts one behind the other
 *
 * To find numbers takes about as long as to write down what has one, and does not ask for what was written: with a
 * thread of its own the one goes on beside the other. What is written is the same.
 */
#ifndef MIRE_CACHE_BELT_H
#define MIRE_CACHE_BELT_H

#include "cache/blocks.h"

#define MIRE_BELT_SEGMENTS 4096 /* of a part: some tenths of a millisecond's work */
#define MIRE_BELT_SCOPES   2048
#define MIRE_BELT_TEXTS    512

struct pack_scope {
    uint32_t name;
    uint32_t parent; /* 0: it is a function */
    uint32_t file;   /* of the call */
    uint32_t line;
    uint32_t entry; /* of a function */
};

struct belt_text {
    const char *text; /* borrowed until belt_end */
    uint32_t len;
    bool is_path;
};

struct belt_part {
    bool is_last;
    size_t segment_count, scope_count, text_count;
    struct pack_segment segments[MIRE_BELT_SEGMENTS];
    struct pack_scope scopes[MIRE_BELT_SCOPES];
    struct belt_text texts[MIRE_BELT_TEXTS];
};

struct written {
    bool failed; /* out of memory; what came from then on is lost */
    struct blocks blocks;
    struct {
        struct pack_scope *rows;
        size_t count, room;
    } scopes;
    struct written_texts { /* each ends in a NUL */
        char *rows;
        size_t count, room;
    } names, paths; /* once all are flushed: the paths behind the names */
};

struct belt {
    struct belt_part *filling;
    struct written written; /* the caller's once the belt has ended */
    struct belt_ring *ring; /* NULL: parts are written by whoever fills them */
};

/* False: out of memory. */
bool belt_init(struct belt *belt);
void belt_fini(struct belt *belt);

/*
 * Make room for about so much before anything is added: what grows is moved, and the one who fills waits for that. What
 * it is short of grows all the same.
 */
void belt_reserve(struct belt *belt, size_t segments, size_t scopes, size_t name_bytes);

/* Write in a thread of its own from now on, if there is one to be had. Before anything is added. */
void belt_begin_thread(struct belt *belt);

/* What is filled is written, and another part is to be filled. */
void belt_hand_over(struct belt *belt);

/* Everything is written, and the thread is gone. Nothing more is added. */
void belt_end(struct belt *belt);

static inline void belt_segment(struct belt *belt, struct pack_segment segment)
{
    struct belt_part *part = belt->filling;
    part->segments[part->segment_count++] = segment;
    if (part->segment_count == MIRE_BELT_SEGMENTS)
        belt_hand_over(belt);
}

static inline void belt_scope(struct belt *belt, const struct pack_scope *scope)
{
    struct belt_part *part = belt->filling;
    part->scopes[part->scope_count++] = *scope;
    if (part->scope_count == MIRE_BELT_SCOPES)
        belt_hand_over(belt);
}

static inline void belt_text(struct belt *belt, struct belt_text text)
{
    struct belt_part *part = belt->filling;
    part->texts[part->text_count++] = text;
    if (part->text_count == MIRE_BELT_TEXTS)
        belt_hand_over(belt);
}

#endif
