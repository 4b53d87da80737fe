/*
 * writer_queue.h - parts of a cache on their way from the code that numbers them to the code that writes them. Internal
 * to cache/.
 *
 *     pack --> [ parts: segments, scopes, texts ] --> blocks, scopes and texts one behind the other
 *
 * Finding numbers takes about as long as writing the numbered rows and needs none of the output. The writer may
 * therefore have a thread of its own; the output is the same.
 */
#ifndef MIRE_CACHE_WRITER_QUEUE_H
#define MIRE_CACHE_WRITER_QUEUE_H

#include "cache/blocks.h"

#define MIRE_QUEUE_SEGMENTS 4096 /* per part: some tenths of a millisecond of work */
#define MIRE_QUEUE_SCOPES   2048
#define MIRE_QUEUE_TEXTS    512

struct pack_scope {
    uint32_t name;
    uint32_t parent; /* 0: a function */
    uint32_t file;   /* file of the call */
    uint32_t line;
    uint32_t entry; /* start of a function */
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
    bool failed; /* out of memory; later parts are lost */
    struct blocks blocks;
    struct {
        struct pack_scope *rows;
        size_t count, room;
    } scopes;
    struct written_texts { /* each ends in a NUL */
        char *rows;
        size_t count, room;
    } names, paths; /* after pack_flush: the paths follow the names */
};

struct writer_queue {
    struct writer_queue_part *filling;
    struct written written;         /* the caller's after writer_queue_end */
    struct writer_queue_ring *ring; /* NULL: the filling thread writes the parts */
};

/* Returns false out of memory. */
bool writer_queue_init(struct writer_queue *queue);
void writer_queue_fini(struct writer_queue *queue);

/*
 * Reserve about so much room before anything is added. Growing moves the rows while the filling thread waits. A low
 * estimate is no error.
 */
void writer_queue_reserve(struct writer_queue *queue, size_t segments, size_t scopes, size_t name_bytes);

/* Write in a thread of its own from now on, if one can be started. Before anything is added. */
void writer_queue_begin_thread(struct writer_queue *queue);

/* Pass the filled part to the writer, and get an empty one. */
void writer_queue_hand_over(struct writer_queue *queue);

/* Write everything and end the thread. Nothing may be added afterwards. */
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
