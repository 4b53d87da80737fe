/*
 * pack.c - numbers scopes, files and texts.
 */
#include "cache/pack.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

#define TEXT_MAX  65535u            /* bytes of a name that are stored */
#define TEXTS_MAX (UINT32_MAX / 2u) /* limit for all names, and for all paths, bytes */
#define FILE_MAX  ((1u << MIRE_CACHE_FILE_BITS) - 1)
#define SCOPE_MAX ((1u << MIRE_CACHE_SCOPE_BITS) - 1)

static uint64_t mix(uint64_t hash)
{
    hash *= 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

struct pack_key pack_key_of(const char *text, size_t len)
{
    uint32_t kept = len < TEXT_MAX ? (uint32_t)len : TEXT_MAX;
    uint64_t hash = kept;
    for (len = kept; len >= 8; text += 8, len -= 8)
        hash = mix(hash ^ load_64((const uint8_t *)text));
    for (; len; text++, len--)
        hash = mix(hash ^ (uint8_t)*text);
    return (struct pack_key){(uint32_t)(mix(hash) >> 32), kept};
}

struct pack_key pack_key(const char *text)
{
    return pack_key_of(text, strnlen(text, TEXT_MAX));
}

static bool texts_init(struct pack_texts *texts, struct writer_queue *queue, bool is_path)
{
    texts->hash_room = 1024;
    texts->hash = calloc(texts->hash_room, sizeof *texts->hash);
    if (!texts->hash || !GROW(texts))
        return false;
    texts->rows[texts->count++] = (struct pack_text){.text = ""};
    texts->bytes = 1;
    writer_queue_text(queue, (struct writer_queue_text){.text = "", .is_path = is_path});
    return true;
}

bool pack_init(struct pack *pack)
{
    *pack = (struct pack){.recent = calloc(MIRE_PACK_RECENT, sizeof *pack->recent)};
    pack->failed = !pack->recent || !writer_queue_init(&pack->queue) ||
                   !texts_init(&pack->names, &pack->queue, false) || !texts_init(&pack->paths, &pack->queue, true);
    if (pack->failed)
        return false;
    writer_queue_scope(&pack->queue, &(struct pack_scope){0});
    pack->scope_count = 1;
    return true;
}

void pack_fini(struct pack *pack)
{
    writer_queue_fini(&pack->queue);
    free(pack->names.rows);
    free(pack->names.hash);
    free(pack->paths.rows);
    free(pack->paths.hash);
    free(pack->recent);
    *pack = (struct pack){0};
}

static bool grow_texts(struct pack_texts *texts)
{
    size_t room = texts->hash_room * 2;
    if (texts->count * 2 < texts->hash_room)
        return true;
    uint64_t *hash = calloc(room, sizeof *hash);
    if (!hash)
        return false;
    for (size_t i = 0; i < texts->hash_room; i++) {
        uint64_t row = texts->hash[i];
        size_t k = row >> 32;
        if (!row)
            continue;
        while (hash[k & (room - 1)])
            k++;
        hash[k & (room - 1)] = row;
    }
    free(texts->hash);
    texts->hash = hash;
    texts->hash_room = room;
    return true;
}

/* The number of a text; 0: no room; out of memory also sets pack->failed. */
static uint32_t number_of(struct pack *pack, struct pack_texts *texts, const char *text, struct pack_key key,
                          size_t most)
{
    if (!grow_texts(texts) || !GROW(texts)) {
        pack->failed = true;
        return 0;
    }
    size_t k = key.hash;
    for (uint64_t row; (row = texts->hash[k & (texts->hash_room - 1)]); k++) {
        const struct pack_text *other = &texts->rows[(uint32_t)row];
        if (row >> 32 == key.hash && other->len == key.len &&
            (other->text == text || !memcmp(other->text, text, key.len)))
            return (uint32_t)row;
    }
    if (texts->bytes + key.len + 1 > TEXTS_MAX || texts->count > most)
        return 0;
    writer_queue_text(&pack->queue, (struct writer_queue_text){text, key.len, texts == &pack->paths});
    texts->rows[texts->count] = (struct pack_text){text, key.len, (uint32_t)texts->bytes};
    texts->bytes += key.len + 1;
    texts->hash[k & (texts->hash_room - 1)] = (uint64_t)key.hash << 32 | texts->count;
    return (uint32_t)texts->count++;
}

uint32_t pack_name(struct pack *pack, const char *name, struct pack_key key)
{
    uint32_t number = key.len ? number_of(pack, &pack->names, name, key, UINT32_MAX - 1) : 0;
    return number ? pack->names.rows[number].place : 0;
}

uint32_t pack_file(struct pack *pack, const char *path)
{
    return path && path[0] ? number_of(pack, &pack->paths, path, pack_key(path), FILE_MAX) : 0;
}

static uint64_t hash_scope(const struct pack_scope *scope)
{
    uint64_t hash = mix((uint64_t)scope->name << 32 | scope->parent);
    hash = mix(hash ^ ((uint64_t)scope->file << 32 | scope->line));
    return mix(hash ^ scope->entry);
}

uint32_t pack_scope(struct pack *pack, const struct pack_scope *scope)
{
    uint64_t hash = hash_scope(scope);
    struct pack_recent *recent = &pack->recent[hash % MIRE_PACK_RECENT];
    if (recent->number && recent->hash == hash >> 32 && !memcmp(&recent->scope, scope, sizeof *scope))
        return recent->number;
    if (pack->scope_count > SCOPE_MAX)
        return 0;
    *recent = (struct pack_recent){(uint32_t)(hash >> 32), (uint32_t)pack->scope_count, *scope};
    writer_queue_scope(&pack->queue, scope);
    return (uint32_t)pack->scope_count++;
}

void pack_flush(struct pack *pack)
{
    writer_queue_end(&pack->queue);
    struct written *written = &pack->queue.written;
    blocks_end(&written->blocks);
    pack->failed |= written->failed || written->blocks.failed;
    struct written_texts *names = &written->names;
    char *rows = grow(names->rows, &names->room, names->count, written->paths.count, 1);
    if (!rows) {
        pack->failed = true;
        return;
    }
    names->rows = rows;
    memcpy(rows + names->count, written->paths.rows, written->paths.count);
    names->count += written->paths.count;
    written->paths.count = 0;
}
