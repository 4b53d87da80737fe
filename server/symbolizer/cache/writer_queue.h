/*
 * writer_queue.h - parts of a cache on their way from the code that numbers them to the code that writes them. Inside
 * cache/ only.
 *
 *     pack --> [ parts: segments, scopes, texts ] --> blocks, scopes and texts one behind the other
 *
 * Finding numbers takes about as long as writing the numbered rows, and needs nothing of what was written. With a
 * thread of its own the writer runs beside the numbering; the output is the same.
 */
#ifndef MIRE_CACHE_WRITER_QUEUE_H
#define MIRE_CACHE_WRITER_QUEUE_H

#include "cache/blocks.h"

#define MIRE_QUEUE_SEGMENTS 4096 /* of a part: some tenths of a millisecond's work */
#define MIRE_QUEUE_SCOPES   2048
#define MIRE_QUEUE_TEXTS    512

struct pack_scope {
    uint32_t name;
    uint32_t parent; /* 0: it is a function */
    uint32_t file;   /* of the call */
    uint32_t line;
    uint32_t entry; /* of a function */
};

struct writer_queue_text {
    const char *text; /* borrowed until writer_queue_end */
    uint32_t len;
    bool is_path;
};

struct writer_queue_part {
    bool is_last;
    size_t segment_count, scope_count, text_count;
    struct pack_segment segments[MIRE_QUEUE_SEGMENTS];
    struct pack_scope scopes[MIRE_QUEUE_SCOPES];
    struct writer_queue_text texts[MIRE_QUEUE_TEXTS];
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

struct writer_queue {
    struct writer_queue_part *filling;
    struct written written;         /* the caller's once the queue has ended */
    struct writer_queue_ring *ring; /* NULL: parts are written by whoever fills them */
};

/* False: out of memory. */
bool writer_queue_init(struct writer_queue *queue);
void writer_queue_fini(struct writer_queue *queue);

/*
 * Make room for about so much before anything is added: what grows is moved, and the one who fills waits for that. What
 * it is short of grows all the same.
 */
void writer_queue_reserve(struct writer_queue *queue, size_t segments, size_t scopes, size_t name_bytes);

/* Write in a thread of its own from now on, if there is one to be had. Before anything is added. */
void writer_queue_begin_thread(struct writer_queue *queue);

/* What is filled is written, and another part is to be filled. */
void writer_queue_hand_over(struct writer_queue *queue);

/* Everything is written, and the thread is gone. Nothing more is added. */
void writer_queue_end(struct writer_queue *queue);

static inline void writer_queue_segment(struct writer_queue *queue, struct pack_segment segment)
{
    struct writer_queue_part *part = queue->filling;
    part->segments[part->segment_count++] = segment;
    if (part->segment_count == MIRE_QUEUE_SEGMENTS)
        writer_queue_hand_over(queue);
}

static inline void writer_queue_scope(struct writer_queue *queue, const struct pack_scope *scope)
{
    struct writer_queue_part *part = queue->filling;
    part->scopes[part->scope_count++] = *scope;
    if (part->scope_count == MIRE_QUEUE_SCOPES)
        writer_queue_hand_over(queue);
}

static inline void writer_queue_text(struct writer_queue *queue, struct writer_queue_text text)
{
    struct writer_queue_part *part = queue->filling;
    part->texts[part->text_count++] = text;
    if (part->text_count == MIRE_QUEUE_TEXTS)
        writer_queue_hand_over(queue);
}

#endif
