/*
 * writer_queue.c - a ring of parts. One thread fills a part, the other writes one. They wait on semaphores, the filler
 * only if the ring is full, and the writer only if it is empty. The data that the writer changes with every row is on
 * its own stack, so that it shares no cache line with data that the filler reads.
 */
#include "cache/writer_queue.h"

#include "base/grow.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4

struct writer_queue_ring {
    pthread_t thread;
    sem_t filled; /* parts for the writer */
    sem_t empty;  /* free parts, without the one being filled */
    struct written *written;
    struct writer_queue_part *parts[PARTS]; /* the first one is the queue's own */
    unsigned filling;
};

static void write_texts(struct written *to, const struct writer_queue_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct written_texts *list = texts[i].is_path ? &to->paths : &to->names;
        char *rows = grow(list->rows, &list->room, list->count, texts[i].len + 1, 1);
        if (!rows) {
            to->failed = true;
            return;
        }
        list->rows = rows;
        memcpy(rows + list->count, texts[i].text, texts[i].len);
        rows[list->count + texts[i].len] = '\0';
        list->count += texts[i].len + 1;
    }
}

/* Write a part and empty it. */
static void write_part(struct written *to, struct writer_queue_part *part)
{
    struct pack_scope *scopes =
        grow(to->scopes.rows, &to->scopes.room, to->scopes.count, part->scope_count, sizeof *scopes);
    if (scopes || !part->scope_count) {
        to->scopes.rows = scopes;
        if (part->scope_count)
            memcpy(scopes + to->scopes.count, part->scopes, part->scope_count * sizeof *scopes);
        to->scopes.count += part->scope_count;
    } else {
        to->failed = true;
    }
    if (!to->failed)
        write_texts(to, part->texts, part->text_count);
    blocks_add(&to->blocks, part->segments, part->segment_count);
    part->segment_count = part->scope_count = part->text_count = 0;
}

bool writer_queue_init(struct writer_queue *queue)
{
    *queue = (struct writer_queue){.filling = calloc(1, sizeof *queue->filling)};
    return queue->filling != NULL;
}

void writer_queue_reserve(struct writer_queue *queue, size_t segments, size_t scopes, size_t name_bytes)
{
    struct written *to = &queue->written;
    struct pack_scope *rows = grow(to->scopes.rows, &to->scopes.room, to->scopes.count, scopes, sizeof *rows);
    to->scopes.rows = rows ? rows : to->scopes.rows;
    char *names = grow(to->names.rows, &to->names.room, to->names.count, name_bytes, 1);
    to->names.rows = names ? names : to->names.rows;
    blocks_reserve(&to->blocks, segments);
}

static void sem_wait_whole(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

static void *write_all(void *context)
{
    struct writer_queue_ring *ring = context;
    struct written own = *ring->written;
    bool last = false;
    for (size_t i = 0; !last; i++) {
        struct writer_queue_part *part = ring->parts[i % PARTS];
        sem_wait_whole(&ring->filled);
        last = part->is_last;
        write_part(&own, part);
        sem_post(&ring->empty);
    }
    *ring->written = own;
    return NULL;
}

static void free_ring(struct writer_queue_ring *ring)
{
    sem_destroy(&ring->filled);
    sem_destroy(&ring->empty);
    for (unsigned i = 1; i < PARTS; i++)
        free(ring->parts[i]);
    free(ring);
}

void writer_queue_begin_thread(struct writer_queue *queue)
{
    struct writer_queue_ring *ring = calloc(1, sizeof *ring);
    bool good = ring != NULL;
    if (!good)
        return;
    sem_init(&ring->filled, 0, 0);
    sem_init(&ring->empty, 0, PARTS - 1);
    ring->written = &queue->written;
    ring->parts[0] = queue->filling;
    for (unsigned i = 1; i < PARTS; i++)
        good &= (ring->parts[i] = calloc(1, sizeof *ring->parts[i])) != NULL;
    if (good && !pthread_create(&ring->thread, NULL, write_all, ring))
        queue->ring = ring;
    else
        free_ring(ring);
}

void writer_queue_hand_over(struct writer_queue *queue)
{
    struct writer_queue_ring *ring = queue->ring;
    if (!ring) {
        write_part(&queue->written, queue->filling);
        return;
    }
    sem_post(&ring->filled);
    sem_wait_whole(&ring->empty);
    ring->filling = (ring->filling + 1) % PARTS;
    queue->filling = ring->parts[ring->filling];
}

void writer_queue_end(struct writer_queue *queue)
{
    struct writer_queue_ring *ring = queue->ring;
    if (ring) {
        queue->filling->is_last = true;
        sem_post(&ring->filled);
        pthread_join(ring->thread, NULL);
        queue->filling = ring->parts[0];
        queue->ring = NULL;
        free_ring(ring);
    }
    if (queue->filling)
        write_part(&queue->written, queue->filling);
}

void writer_queue_fini(struct writer_queue *queue)
{
    writer_queue_end(queue);
    free(queue->filling);
    blocks_fini(&queue->written.blocks);
    free(queue->written.scopes.rows);
    free(queue->written.names.rows);
    free(queue->written.paths.rows);
    *queue = (struct writer_queue){0};
}
