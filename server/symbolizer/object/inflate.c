/*
 * inflate.c - decompresses sections, copies the lines of text files, and reads the ELF file in .gnu_debugdata.
 *
 * A section states its decompressed length. The length is limited, and pages are allocated only when bytes are written,
 * so a false length costs nothing. Each section is one stream; threads take whole sections, longest first.
 */
#include "object/parts.h"

#include "base/grow.h"

#include <libdeflate.h>
#include <lzma.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#define INFLATED_MAX  (4ull << 30)   /* limit for all sections of a file, bytes */
#define HIDDEN_MAX    (64u << 20)    /* limit of .gnu_debugdata, decompressed bytes */
#define HIDDEN_MEMORY (128ull << 20) /* memory limit of the xz decoder, bytes */
#define SPLIT_MAX     (64u << 20)    /* limit of a section that determines a split file's id, bytes */
#define THREADS_MAX   16
#define PAGE          4096u

/* Allocate zeroed memory with a pad; object_close frees it. NULL: out of memory. */
static uint8_t *hold(struct object *object, size_t len)
{
    size_t room = len + MIRE_OBJECT_PAD;
    if (object->held_count == sizeof object->held / sizeof *object->held)
        return NULL;
    uint8_t *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    object->held[object->held_count] = bytes;
    object->held_bytes[object->held_count++] = room;
    return bytes;
}

/* Release the pages of compressed bytes after their last use. */
static void forget(const uint8_t *bytes, size_t len)
{
    uintptr_t from = ((uintptr_t)bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t to = ((uintptr_t)bytes + len) & ~(uintptr_t)(PAGE - 1);
    if (to > from)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

static void inflate(struct packed *packed)
{
    if (packed->zstd) {
        size_t got = ZSTD_decompress(packed->to, packed->to_len, packed->from, packed->from_len);
        packed->failed = got != packed->to_len;
        return;
    }
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    packed->failed = !inflater || libdeflate_zlib_decompress(inflater, packed->from, packed->from_len, packed->to,
                                                             packed->to_len, NULL) != LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(inflater);
}

struct team {
    struct packed *packed;
    size_t count;
    atomic_size_t next;
};

static void *take_sections(void *context)
{
    struct team *team = context;
    for (size_t i; (i = atomic_fetch_add(&team->next, 1)) < team->count;)
        inflate(&team->packed[i]);
    return NULL;
}

static void longest_first(struct packed *packed, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k && packed[k].from_len > packed[k - 1].from_len; k--) {
            struct packed other = packed[k];
            packed[k] = packed[k - 1];
            packed[k - 1] = other;
        }
}

const char *inflate_all(struct parts *parts, unsigned threads)
{
    struct team team = {.packed = parts->packed, .count = parts->packed_count};
    pthread_t others[THREADS_MAX];
    unsigned started = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < team.count; i++) {
        struct packed *packed = &team.packed[i];
        total += packed->to_len;
        if (packed->to_len > INFLATED_MAX || total > INFLATED_MAX)
            return "has sections of more than 4 GiB";
        packed->to = hold(parts->object, packed->to_len);
        if (!packed->to)
            return "needs more memory than there is";
    }
    longest_first(team.packed, team.count);
    while (started + 1 < threads && started + 1 < team.count && started < THREADS_MAX &&
           !pthread_create(&others[started], NULL, take_sections, &team))
        started++;
    take_sections(&team);
    while (started)
        pthread_join(others[--started], NULL);
    for (size_t i = 0; i < team.count; i++) {
        if (team.packed[i].failed)
            return "has a compressed section that is damaged";
        parts->object->sections[team.packed[i].name] = (struct section){team.packed[i].to, team.packed[i].to_len};
        forget(team.packed[i].from, team.packed[i].from_len);
    }
    return NULL;
}

const char *split_inflate(struct split_parts *split)
{
    for (size_t i = 0; i < split->packed_count; i++) {
        struct packed *packed = &split->packed[i];
        if (split->index.bytes && packed->name != MIRE_SECTION_CU_INDEX)
            continue; /* a package's id is in the index alone */
        if (!packed->to_len || packed->to_len > SPLIT_MAX)
            return "is a split file with compressed sections of more than 64 MiB; decompress it (objcopy)";
        packed->to = malloc(packed->to_len);
        if (!packed->to)
            return "needs more memory than there is";
        inflate(packed);
        if (packed->failed)
            return "has a compressed section that is damaged";
        struct section *section = packed->name == MIRE_SECTION_INFO     ? &split->info
                                  : packed->name == MIRE_SECTION_ABBREV ? &split->abbrev
                                                                        : &split->index;
        *section = (struct section){packed->to, packed->to_len};
    }
    return NULL;
}

void split_deflate(struct split_parts *split)
{
    for (size_t i = 0; i < split->packed_count; i++)
        free(split->packed[i].to);
    *split = (struct split_parts){0};
}

const char *text_hold(struct parts *parts)
{
    char *text = (char *)hold(parts->object, parts->len);
    if (!text)
        return "needs more memory than there is";
    const size_t marked = text_mark(parts->bytes, parts->len); /* becomes an empty line */
    for (size_t i = 0; i < parts->len; i++)
        text[i] = i < marked || parts->bytes[i] == '\n' || parts->bytes[i] == '\r' ? '\0' : (char)parts->bytes[i];
    parts->object->text = (struct section){(uint8_t *)text, parts->len};
    return NULL;
}

void hidden_read(struct parts *parts, const uint8_t *bytes, size_t len)
{
    uint64_t memory = HIDDEN_MEMORY;
    size_t in = 0;
    struct object scratch = {0}; /* its sections and code are ignored: those of the outer file are used */
    struct parts hidden = {.object = &scratch, .hidden = true};
    hidden.bytes = parts->hidden ? NULL : hold(parts->object, HIDDEN_MAX);
    if (!hidden.bytes)
        return;
    if (lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &in, len, (uint8_t *)(uintptr_t)hidden.bytes, &hidden.len,
                                  HIDDEN_MAX) != LZMA_OK ||
        !parts_are_elf(hidden.bytes, hidden.len) || elf_read(&hidden))
        hidden.symbols.count = 0;
    void *rows = grow(parts->symbols.rows, &parts->symbols.room, parts->symbols.count, hidden.symbols.count,
                      sizeof *parts->symbols.rows);
    if (rows && hidden.symbols.count) {
        parts->symbols.rows = rows;
        memcpy(parts->symbols.rows + parts->symbols.count, hidden.symbols.rows,
               hidden.symbols.count * sizeof *hidden.symbols.rows);
        parts->symbols.count += hidden.symbols.count;
        parts->facts.has_symbols = true;
    }
    free(hidden.symbols.rows);
    free(hidden.frames.rows);
    free(hidden.code.rows);
}
