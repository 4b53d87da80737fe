/*
 * pack.c - gathers scopes, files, texts and blocks of segments.
 */
#include "symbols/pack.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

#define TEXT_MAX  65535u /* bytes of a name that are kept */
#define LINE_MAX_ ((1u << MIRE_CACHE_LINE_BITS) - 1)
#define FILE_MAX  ((1u << MIRE_CACHE_FILE_BITS) - 1)
#define SCOPE_MAX ((1u << MIRE_CACHE_SCOPE_BITS) - 1)

struct pack_known {
    const char *text;
    uint32_t place;
};

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

bool pack_init(struct pack *pack)
{
    *pack = (struct pack){.text_hash_room = 1024, .file_hash_room = 1024, .known_room = 1024};
    pack->text_hash = calloc(pack->text_hash_room, sizeof *pack->text_hash);
    pack->file_hash = calloc(pack->file_hash_room, sizeof *pack->file_hash);
    pack->known = calloc(pack->known_room, sizeof *pack->known);
    pack->failed = !pack->file_hash || !pack->text_hash || !pack->known || !GROW(&pack->texts) || !GROW(&pack->files) ||
                   !GROW(&pack->scopes);
    if (pack->failed)
        return false;
    pack->texts.rows[pack->texts.count++] = '\0';
    pack->files.rows[pack->files.count++] = 0;
    pack->scopes.rows[pack->scopes.count++] = (struct pack_scope){0};
    return true;
}

void pack_fini(struct pack *pack)
{
    free(pack->scopes.rows);
    free(pack->starts.rows);
    free(pack->places.rows);
    free(pack->files.rows);
    free(pack->data.rows);
    free(pack->texts.rows);
    free(pack->text_hash);
    free(pack->file_hash);
    free(pack->known);
    *pack = (struct pack){0};
}

static bool grow_texts(struct pack *pack)
{
    size_t room = pack->text_hash_room * 2;
    if (pack->text_hash_count * 2 < pack->text_hash_room)
        return true;
    uint64_t *hash = calloc(room, sizeof *hash);
    if (!hash)
        return false;
    for (size_t i = 0; i < pack->text_hash_room; i++) {
        uint64_t row = pack->text_hash[i];
        size_t k = row >> 32;
        if (!row)
            continue;
        while (hash[k & (room - 1)])
            k++;
        hash[k & (room - 1)] = row;
    }
    free(pack->text_hash);
    pack->text_hash = hash;
    pack->text_hash_room = room;
    return true;
}

uint32_t pack_text_of(struct pack *pack, const char *text, size_t len)
{
    uint32_t upper = (uint32_t)(hash_text(text, len) >> 32);
    if (!grow_texts(pack))
        goto failed;
    size_t k = upper;
    for (uint64_t row; (row = pack->text_hash[k & (pack->text_hash_room - 1)]); k++) {
        const char *other = pack->texts.rows + (uint32_t)row;
        if (row >> 32 == upper && !strncmp(other, text, len) && !other[len])
            return (uint32_t)row;
    }
    if (pack->texts.count + len + 1 > UINT32_MAX)
        return 0;
    char *rows = grow(pack->texts.rows, &pack->texts.room, pack->texts.count, len + 1, 1);
    if (!rows)
        goto failed;
    pack->texts.rows = rows;
    uint32_t place = (uint32_t)pack->texts.count;
    memcpy(rows + place, text, len);
    rows[place + len] = '\0';
    pack->texts.count += len + 1;
    pack->text_hash[k & (pack->text_hash_room - 1)] = (uint64_t)upper << 32 | place;
    pack->text_hash_count++;
    return place;
failed:
    pack->failed = true;
    return 0;
}

static bool grow_known(struct pack *pack)
{
    size_t room = pack->known_room * 2;
    if (pack->known_count * 2 < pack->known_room)
        return true;
    struct pack_known *known = calloc(room, sizeof *known);
    if (!known)
        return false;
    for (size_t i = 0; i < pack->known_room; i++) {
        size_t k = mix((uintptr_t)pack->known[i].text);
        if (!pack->known[i].text)
            continue;
        while (known[k & (room - 1)].text)
            k++;
        known[k & (room - 1)] = pack->known[i];
    }
    free(pack->known);
    pack->known = known;
    pack->known_room = room;
    return true;
}

uint32_t pack_text(struct pack *pack, const char *text)
{
    if (!text || !text[0])
        return 0;
    if (!grow_known(pack)) {
        pack->failed = true;
        return 0;
    }
    size_t k = mix((uintptr_t)text);
    for (; pack->known[k & (pack->known_room - 1)].text; k++)
        if (pack->known[k & (pack->known_room - 1)].text == text)
            return pack->known[k & (pack->known_room - 1)].place;
    uint32_t place = pack_text_of(pack, text, strnlen(text, TEXT_MAX));
    pack->known[k & (pack->known_room - 1)] = (struct pack_known){text, place};
    pack->known_count++;
    return place;
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
    uint32_t place = pack_text(pack, path);
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
    uint32_t *recent = &pack->recent[hash_scope(scope) % MIRE_PACK_RECENT];
    if (*recent && !memcmp(&pack->scopes.rows[*recent], scope, sizeof *scope))
        return *recent;
    if (pack->scopes.count > SCOPE_MAX)
        return 0;
    if (!GROW(&pack->scopes)) {
        pack->failed = true;
        return 0;
    }
    *recent = (uint32_t)pack->scopes.count;
    pack->scopes.rows[pack->scopes.count] = *scope;
    return (uint32_t)pack->scopes.count++;
}

/* One of a block's three numbers: its least value but 0, and how many bits each segment needs. */
struct column {
    uint32_t least;
    uint32_t most;
    unsigned bits;
};

static void column_add(struct column *column, uint32_t value)
{
    if (!value)
        return;
    column->least = !column->least || value < column->least ? value : column->least;
    column->most = value > column->most ? value : column->most;
}

static void column_end(struct column *column)
{
    uint32_t span = column->most ? column->most - column->least + 1 : 0; /* 0 itself is one more value */
    column->bits = span ? 32u - (unsigned)__builtin_clz(span) : 0;
}

struct bits {
    uint8_t *to;
    uint64_t word;
    unsigned count;
};

static void bits_put(struct bits *bits, uint32_t value, const struct column *column)
{
    uint64_t number = value ? value - column->least + 1 : 0;
    bits->word |= number << bits->count;
    for (bits->count += column->bits; bits->count >= 8; bits->count -= 8, bits->word >>= 8)
        *bits->to++ = (uint8_t)bits->word;
}

static void write_block(struct pack *pack)
{
    const struct pack_segment *segments = pack->pending;
    unsigned count = pack->pending_count;
    struct column scope = {0}, file = {0}, line = {0};
    uint8_t *rows = grow(pack->data.rows, &pack->data.room, pack->data.count, MIRE_CACHE_PAD, 1);
    if (rows)
        pack->data.rows = rows;
    if (!rows || !GROW(&pack->starts) || !GROW(&pack->places) || pack->data.count > UINT32_MAX - MIRE_CACHE_PAD) {
        pack->failed = true;
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        column_add(&scope, segments[i].scope);
        column_add(&file, segments[i].file);
        column_add(&line, segments[i].line);
    }
    column_end(&scope);
    column_end(&file);
    column_end(&line);
    uint32_t words[3] = {scope.least | scope.bits << MIRE_CACHE_SCOPE_BITS,
                         file.least | file.bits << MIRE_CACHE_FILE_BITS | (count - 1) << (MIRE_CACHE_FILE_BITS + 5),
                         line.least | line.bits << MIRE_CACHE_LINE_BITS};
    uint8_t *p = rows + pack->data.count;
    memcpy(p, words, sizeof words);
    p += sizeof words;
    for (unsigned i = 0; i < MIRE_CACHE_SEGMENTS; i++, p += 2) {
        uint16_t distance = (uint16_t)(i < count ? segments[i].at - segments[0].at : MIRE_CACHE_REACH);
        memcpy(p, &distance, sizeof distance);
    }
    struct bits bits = {.to = p};
    for (unsigned i = 0; i < count; i++) {
        bits_put(&bits, segments[i].scope, &scope);
        bits_put(&bits, segments[i].file, &file);
        bits_put(&bits, segments[i].line, &line);
    }
    if (bits.count)
        *bits.to++ = (uint8_t)bits.word;
    pack->starts.rows[pack->starts.count++] = segments[0].at;
    pack->places.rows[pack->places.count++] = (uint32_t)pack->data.count;
    pack->data.count = (size_t)(bits.to - rows);
    pack->pending_count = 0;
}

void pack_segment(struct pack *pack, struct pack_segment segment)
{
    segment.line = segment.line > LINE_MAX_ ? 0 : segment.line;
    if (pack->failed)
        return;
    if (!pack->pending_count && !pack->starts.count && segment.at) /* the first block begins at 0 */
        pack_segment(pack, (struct pack_segment){0});
    if ((pack->pending_count || pack->starts.count) && pack->last.scope == segment.scope &&
        pack->last.file == segment.file && pack->last.line == segment.line)
        return;
    if (pack->pending_count == MIRE_CACHE_SEGMENTS ||
        (pack->pending_count && segment.at - pack->pending[0].at >= MIRE_CACHE_REACH))
        write_block(pack);
    pack->pending[pack->pending_count++] = segment;
    pack->last = segment;
}

void pack_flush(struct pack *pack)
{
    if (!pack->pending_count && !pack->starts.count)
        pack_segment(pack, (struct pack_segment){0});
    if (pack->pending_count && !pack->failed)
        write_block(pack);
}
