/*
 * pack.c - gathers scopes, files and texts.
 */
#include "symbols/pack.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

#define TEXT_MAX  65535u            /* bytes of a name that are kept */
#define TEXTS_MAX (UINT32_MAX / 2u) /* of all names; of all paths */
#define FILE_MAX  ((1u << MIRE_CACHE_FILE_BITS) - 1)
#define SCOPE_MAX ((1u << MIRE_CACHE_SCOPE_BITS) - 1)

static uint64_t mix(uint64_t hash)
{
    hash *= 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

static uint64_t hash_text(const char *text, size_t len)
{
    uint64_t hash = len;
    for (; len >= 8; text += 8, len -= 8)
        hash = mix(hash ^ load_64((const uint8_t *)text));
    for (; len; text++, len--)
        hash = mix(hash ^ (uint8_t)*text);
    return mix(hash);
}

static bool texts_init(struct pack_texts *texts)
{
    texts->hash_room = 1024;
    texts->hash = calloc(texts->hash_room, sizeof *texts->hash);
    if (!texts->hash || !GROW(texts))
        return false;
    texts->rows[texts->count++] = '\0';
    return true;
}

bool pack_init(struct pack *pack)
{
    *pack = (struct pack){.file_hash_room = 1024};
    pack->file_hash = calloc(pack->file_hash_room, sizeof *pack->file_hash);
    pack->failed = !pack->file_hash || !texts_init(&pack->texts) || !texts_init(&pack->paths) || !GROW(&pack->files) ||
                   !GROW(&pack->scopes);
    if (pack->failed)
        return false;
    pack->files.rows[pack->files.count++] = 0;
    pack->scopes.rows[pack->scopes.count++] = (struct pack_scope){0};
    return true;
}

void pack_fini(struct pack *pack)
{
    blocks_fini(&pack->blocks);
    free(pack->scopes.rows);
    free(pack->files.rows);
    free(pack->texts.rows);
    free(pack->texts.hash);
    free(pack->paths.rows);
    free(pack->paths.hash);
    free(pack->file_hash);
    *pack = (struct pack){0};
}

static bool grow_texts(struct pack_texts *texts)
{
    size_t room = texts->hash_room * 2;
    if (texts->hash_count * 2 < texts->hash_room)
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

/* Where `text` lies among them; 0: there is no room, and if for want of memory *failed is set. */
static uint32_t text_in(struct pack_texts *texts, const char *text, size_t len, bool *failed)
{
    uint32_t upper = (uint32_t)(hash_text(text, len) >> 32);
    if (!grow_texts(texts))
        goto failed;
    size_t k = upper;
    for (uint64_t row; (row = texts->hash[k & (texts->hash_room - 1)]); k++) {
        const char *other = texts->rows + (uint32_t)row;
        if (row >> 32 == upper && !strncmp(other, text, len) && !other[len])
            return (uint32_t)row;
    }
    if (texts->count + len + 1 > TEXTS_MAX)
        return 0;
    char *rows = grow(texts->rows, &texts->room, texts->count, len + 1, 1);
    if (!rows)
        goto failed;
    texts->rows = rows;
    uint32_t place = (uint32_t)texts->count;
    memcpy(rows + place, text, len);
    rows[place + len] = '\0';
    texts->count += len + 1;
    texts->hash[k & (texts->hash_room - 1)] = (uint64_t)upper << 32 | place;
    texts->hash_count++;
    return place;
failed:
    *failed = true;
    return 0;
}

uint32_t pack_text_of(struct pack *pack, const char *text, size_t len)
{
    return text_in(&pack->texts, text, len, &pack->failed);
}

uint32_t pack_text(struct pack *pack, const char *text)
{
    return text && text[0] ? pack_text_of(pack, text, strnlen(text, TEXT_MAX)) : 0;
}

static bool grow_files(struct pack *pack)
{
    size_t room = pack->file_hash_room * 2;
    if (pack->files.count * 2 < pack->file_hash_room)
        return true;
    uint32_t *hash = calloc(room, sizeof *hash);
    if (!hash)
        return false;
    for (uint32_t i = 1; i < pack->files.count; i++) {
        size_t k = mix(pack->files.rows[i]);
        while (hash[k & (room - 1)])
            k++;
        hash[k & (room - 1)] = i;
    }
    free(pack->file_hash);
    pack->file_hash = hash;
    pack->file_hash_room = room;
    return true;
}

uint32_t pack_file(struct pack *pack, const char *path)
{
    uint32_t place = path && path[0] ? text_in(&pack->paths, path, strnlen(path, TEXT_MAX), &pack->failed) : 0;
    if (!place)
        return 0;
    if (!grow_files(pack)) {
        pack->failed = true;
        return 0;
    }
    size_t k = mix(place);
    for (uint32_t file; (file = pack->file_hash[k & (pack->file_hash_room - 1)]); k++)
        if (pack->files.rows[file] == place)
            return file;
    if (pack->files.count > FILE_MAX)
        return 0;
    if (!GROW(&pack->files)) {
        pack->failed = true;
        return 0;
    }
    pack->file_hash[k & (pack->file_hash_room - 1)] = (uint32_t)pack->files.count;
    pack->files.rows[pack->files.count] = place;
    return (uint32_t)pack->files.count++;
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
    uint64_t *recent = &pack->recent[hash % MIRE_PACK_RECENT];
    if (*recent && *recent >> 32 == hash >> 32 && !memcmp(&pack->scopes.rows[(uint32_t)*recent], scope, sizeof *scope))
        return (uint32_t)*recent;
    if (pack->scopes.count > SCOPE_MAX)
        return 0;
    if (!GROW(&pack->scopes)) {
        pack->failed = true;
        return 0;
    }
    *recent = hash >> 32 << 32 | pack->scopes.count;
    pack->scopes.rows[pack->scopes.count] = *scope;
    return (uint32_t)pack->scopes.count++;
}

void pack_flush(struct pack *pack)
{
    blocks_end(&pack->blocks);
    pack->failed |= pack->blocks.failed;
    struct pack_texts *texts = &pack->texts;
    char *rows = grow(texts->rows, &texts->room, texts->count, pack->paths.count, 1);
    if (!rows) {
        pack->failed = true;
        return;
    }
    texts->rows = rows;
    memcpy(rows + texts->count, pack->paths.rows, pack->paths.count);
    for (size_t i = 1; i < pack->files.count; i++)
        pack->files.rows[i] += (uint32_t)texts->count;
    texts->count += pack->paths.count;
    pack->paths.count = 0;
}
