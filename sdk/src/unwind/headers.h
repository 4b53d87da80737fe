/*
 * headers.h - the headers of a loaded module, read in memory.
 *
 *     file      [ header | text ........ | data ]        three segments, each with its own distance between
 *     memory    [ header |   | text ........ |   | data ]      offset in the file and address
 *
 * Linkers are free in these distances: lld and mold map the page of the header again as the first page of the text. So
 * an address belongs to a segment, and the load bias is the same for all of them.
 *
 * Everything is read as memory that may vanish at any time. Signal-safe.
 */
#ifndef MIRE_UNWIND_HEADERS_H
#define MIRE_UNWIND_HEADERS_H

#include "base/base.h"

#define MIRE_SEGMENTS_MAX 32 /* loaded ones of a module; linkers write some 4 */
#define MIRE_FRONT_BYTES  1024
#define MIRE_NO_OFFSET    UINT64_MAX

struct segment {
    uint64_t address; /* in the file's own numbers, without the load bias */
    uint64_t offset;  /* from where the module begins in its file; MIRE_NO_OFFSET: nothing of it is in the file */
    uint64_t size_bytes;
    bool executable;
};

struct headers {
    uint64_t load;         /* load bias: address in memory less address in the file's own numbers */
    uint64_t end;          /* address in memory after its last byte */
    uint64_t eh_frame_hdr; /* address in memory, 0 if it has none */
    uint64_t dynamic;      /* the same of the dynamic section */
    uint64_t dynamic_bytes;
    uint32_t id_size; /* bytes of id, 0 if it has none */
    uint8_t id[MIRE_BUILD_ID_MAX];
    bool is_elf; /* else a PE image: one segment, in which any offset may be anywhere */
    uint32_t segment_count;
    struct segment segments[MIRE_SEGMENTS_MAX];

    uint64_t front_at; /* private: the module's first bytes, read in one go */
    size_t front_bytes;
    uint8_t front[MIRE_FRONT_BYTES];
};

/*
 * Read the headers of a module that begins at `start`.
 *   size_bytes  of the mapping there, which holds the program headers
 * Returns false if no module begins there, or it is for another machine.
 */
bool mire__headers_read(struct headers *out, uint64_t start, uint64_t size_bytes);

/* The name that the linker gave the module. Returns its length, 0 if it has none or `out` is too small. */
size_t mire__headers_soname(char *out, size_t cap_bytes, const struct headers *headers);

#endif
