/*
 * inside.h - shared by the files of heapread/: words that a running process may change, each read once, and the
 * readable part of a section. Private.
 */
#ifndef MIRE_HEAPREAD_INSIDE_H
#define MIRE_HEAPREAD_INSIDE_H

#include "heapread/read.h"

static inline uint64_t mire__get64(const _Atomic uint64_t *word)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)word, memory_order_acquire);
}
static inline uint32_t mire__get32(const _Atomic uint32_t *word)
{
    return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)word, memory_order_acquire);
}
static inline uint32_t mire__get16(const _Atomic uint16_t *word)
{
    return atomic_load_explicit((_Atomic uint16_t *)(uintptr_t)word, memory_order_acquire);
}
static inline uint32_t mire__get8(const _Atomic uint8_t *word)
{
    return atomic_load_explicit((_Atomic uint8_t *)(uintptr_t)word, memory_order_acquire);
}
static inline int64_t mire__get_signed(const _Atomic int64_t *word)
{
    return atomic_load_explicit((_Atomic int64_t *)(uintptr_t)word, memory_order_relaxed);
}
static inline uint64_t mire__least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline const void *mire__read_section(const struct heap_reader *reader, enum heap_section_id id)
{
    return reader->bytes + reader->at[id];
}

/* The readable bytes of a section: the claimed ones, as far as the file has them. */
static inline uint64_t mire__read_bytes(const struct heap_reader *reader, enum heap_section_id id)
{
    return mire__least(reader->bytes_of[id], mire__get64(&reader->header->ready[id]));
}

/* The readable entries of a section: as many as its counter says, as far as they exist. */
static inline uint32_t mire__read_entries(const struct heap_reader *reader, enum heap_section_id id, uint32_t used,
                                          uint64_t entry_bytes)
{
    return (uint32_t)mire__least(used, mire__read_bytes(reader, id) / entry_bytes);
}

/* The segments of blocks that can be read. */
uint32_t mire__read_segment_count(const struct heap_reader *reader);

/* Fill `segment_of`: the number + 1 of the deepest segment of blocks that covers each hash; 0: none. */
void mire__read_segments(uint16_t segment_of[], const struct heap_reader *reader);

#endif
