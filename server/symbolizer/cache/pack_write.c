/*
 * pack_write.c - writes the parts from pack.c in the order of the file, with checksums.
 */
#include "cache/pack.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define PACKED_LEVEL 1 /* 8:1 for names of C++; higher levels gain a tenth and take thrice the time */

struct output {
    int fd;
    uint32_t crc;
    uint64_t bytes;
    bool failed;
};

static void put(struct output *output, const void *bytes, size_t len)
{
    const char *p = bytes;
    output->crc = libdeflate_crc32(output->crc, bytes, len);
    output->bytes += len;
    while (len && !output->failed) {
        ssize_t n = write(output->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        output->failed = n <= 0;
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static unsigned bits_for(uint32_t most)
{
    return most ? 32u - (unsigned)__builtin_clz(most) : 0;
}

/* Compute the widths of the scopes' numbers. */
static void measure_scopes(const struct pack *pack, struct cache_head *head)
{
    uint32_t name = 0, parent = 0, file = 0, line = 0, entry = 0;
    for (size_t i = 1; i < pack->scope_count; i++) {
        const struct pack_scope *scope = &pack->queue.written.scopes.rows[i];
        name = scope->name > name ? scope->name : name;
        parent = scope->parent > parent ? scope->parent : parent;
        file = scope->file > file ? scope->file : file;
        line = scope->line > line ? scope->line : line;
        entry = scope->entry > entry ? scope->entry : entry;
    }
    head->name_bits = (uint8_t)bits_for(name);
    head->parent_bits = (uint8_t)bits_for(parent);
    head->file_bits = (uint8_t)bits_for(file);
    unsigned deep = bits_for(line);
    if (bits_for(entry) > head->file_bits + deep) /* a function has its entry in their place */
        deep = bits_for(entry) - head->file_bits;
    head->line_bits = (uint8_t)deep;
    head->scope_wide = (uint8_t)((head->name_bits + head->file_bits + 7) / 8);
    head->scope_deep = (uint8_t)((head->parent_bits + head->line_bits + 7) / 8);
}

static void encode_scopes(uint8_t *out, const struct pack *pack, const struct cache_head *head)
{
    uint64_t file_mask = (1ull << head->file_bits) - 1;
    for (size_t i = 0; i < pack->scope_count; i++) {
        const struct pack_scope *scope = &pack->queue.written.scopes.rows[i];
        uint64_t file = scope->parent ? scope->file : scope->entry & file_mask;
        uint64_t line = scope->parent ? scope->line : scope->entry >> head->file_bits;
        uint64_t wide = scope->name | file << head->name_bits;
        uint64_t deep = scope->parent | line << head->parent_bits;
        memcpy(out, &wide, head->scope_wide);
        memcpy(out + head->scope_wide, &deep, head->scope_deep);
        out += head->scope_wide + head->scope_deep;
    }
}

static bool put_pages(struct output *output, const struct pack *pack, struct cache_head *head)
{
    head->page_count = head->high / MIRE_CACHE_PAGE + 2;
    uint32_t *pages = calloc(head->page_count, sizeof *pages);
    if (!pages)
        return false;
    const struct blocks *blocks = &pack->queue.written.blocks;
    uint32_t block = 0;
    for (uint64_t page = 0; page < head->page_count; page++) {
        while (block + 1 < blocks->places.count && blocks->places.rows[block + 1].start <= page * MIRE_CACHE_PAGE)
            block++;
        pages[page] = block;
    }
    put(output, pages, head->page_count * sizeof *pages);
    free(pages);
    return true;
}

/* Write the position of each path, after the names. */
static bool put_files(struct output *output, const struct pack *pack)
{
    uint32_t *places = calloc(pack->paths.count, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 1; i < pack->paths.count; i++)
        places[i] = pack->paths.rows[i].place + (uint32_t)pack->names.bytes;
    put(output, places, pack->paths.count * sizeof *places);
    free(places);
    return true;
}

static bool put_scopes(struct output *output, const struct pack *pack, struct cache_head *head)
{
    size_t len = pack->scope_count * (size_t)(head->scope_wide + head->scope_deep);
    size_t pad = MIRE_CACHE_PAD + -(sizeof *head + output->bytes + len + MIRE_CACHE_PAD) % MIRE_CACHE_LINE;
    uint8_t *scopes = malloc(len + pad);
    if (!scopes)
        return false;
    encode_scopes(scopes, pack, head);
    memset(scopes + len, 0, pad);
    put(output, scopes, len + pad);
    free(scopes);
    return true;
}

/* Write the texts. They are compressed if they are within the limit and more than a third of the file (names of
 * templates). */
static bool put_texts(struct output *output, const struct pack *pack, struct cache_head *head)
{
    const struct written_texts *texts = &pack->queue.written.names;
    size_t room = ZSTD_compressBound(texts->count);
    bool pays = texts->count <= MIRE_CACHE_PACKED && texts->count > output->bytes / 2;
    void *packed = pays ? malloc(room) : NULL;
    if (pays && !packed)
        return false;
    size_t len = packed ? ZSTD_compress(packed, room, texts->rows, texts->count, PACKED_LEVEL) : 0;
    if (packed && !ZSTD_isError(len) && len < texts->count) {
        head->packed_bytes = (uint32_t)len;
        put(output, packed, len);
    } else {
        put(output, texts->rows, texts->count);
    }
    free(packed);
    return true;
}

bool pack_write(struct pack *pack, int fd, struct cache_head *head, const struct cache_missing_file *missing_files,
                uint32_t high)
{
    static const uint8_t pad[MIRE_CACHE_PAD];
    struct output output = {.fd = fd};
    const struct written *written = &pack->queue.written;
    const struct blocks *blocks = &written->blocks;
    if (pack->failed || lseek(fd, sizeof *head, SEEK_SET) < 0)
        return false;
    memcpy(head->magic, MIRE_CACHE_MAGIC, sizeof head->magic);
    head->version = MIRE_CACHE_VERSION;
    head->high = high;
    head->block_count = (uint32_t)blocks->places.count;
    head->scope_count = (uint32_t)pack->scope_count;
    head->file_count = (uint32_t)pack->paths.count;
    head->data_bytes = (uint32_t)blocks->data.count;
    head->text_bytes = (uint32_t)written->names.count;
    measure_scopes(pack, head);
    if (!put_pages(&output, pack, head))
        return false;
    put(&output, blocks->places.rows, blocks->places.count * sizeof *blocks->places.rows);
    if (!put_files(&output, pack) || !put_scopes(&output, pack, head))
        return false;
    put(&output, blocks->data.rows, blocks->data.count);
    put(&output, pad, sizeof pad);
    if (!put_texts(&output, pack, head))
        return false;
    if (head->missing_count)
        put(&output, missing_files, head->missing_count * sizeof *missing_files);
    head->file_bytes = sizeof *head + output.bytes;
    head->body_crc = output.crc;
    head->head_crc = 0;
    head->head_crc = libdeflate_crc32(0, head, sizeof *head);
    return !output.failed && pwrite(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head;
}
