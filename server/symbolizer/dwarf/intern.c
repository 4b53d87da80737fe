/*
 * intern.c - numbers paths and names; each is in a harvest once.
 */
#include "dwarf/worker.h"

#include "base/grow.h"

#include <stdlib.h>

#define TEXTS_MAX (1u << 28)

static uint64_t mix(uint64_t hash)
{
    hash *= 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

static uint64_t hash_path(const char *path)
{
    size_t len = strlen(path);
    uint64_t hash = len;
    for (; len >= 8; path += 8, len -= 8)
        hash = mix(hash ^ load_64((const uint8_t *)path));
    for (; len; path++, len--)
        hash = mix(hash ^ (uint8_t)*path);
    return mix(hash);
}

static uint64_t hash_place(const char *name)
{
    return mix((uintptr_t)name);
}

/* Keep half of the table free. Returns false out of memory. */
static bool make_room(uint32_t **table, size_t *room, const char *const *rows, size_t count,
                      uint64_t (*hash_of)(const char *text))
{
    size_t more = *room ? *room * 2 : 1024;
    if (count * 2 < *room)
        return true;
    uint32_t *hash = calloc(more, sizeof *hash);
    if (!hash)
        return false;
    for (size_t i = 1; i < count; i++) {
        size_t k = hash_of(rows[i]);
        while (hash[k & (more - 1)])
            k++;
        hash[k & (more - 1)] = (uint32_t)i;
    }
    free(*table);
    *table = hash;
    *room = more;
    return true;
}

uint32_t intern_path(struct dwarf_harvest *harvest, const char *path, size_t len, bool *failed)
{
    struct dwarf_worker *worker = harvest->worker;
    if (!GROW(&harvest->files))
        goto failed;
    if (!harvest->files.count)
        harvest->files.rows[harvest->files.count++] = "";
    if (!make_room(&worker->path_hash, &worker->path_room, harvest->files.rows, harvest->files.count, hash_path) ||
        !GROW(&harvest->files))
        goto failed;
    size_t k = hash_path(path);
    for (uint32_t id; (id = worker->path_hash[k & (worker->path_room - 1)]); k++)
        if (!strcmp(harvest->files.rows[id], path))
            return id;
    if (harvest->files.count >= TEXTS_MAX)
        return 0;
    const char *copy = arena_copy(&worker->paths, path, len - 1);
    if (!copy)
        goto failed;
    worker->path_hash[k & (worker->path_room - 1)] = (uint32_t)harvest->files.count;
    harvest->files.rows[harvest->files.count] = copy;
    return (uint32_t)harvest->files.count++;
failed:
    *failed = true;
    return 0;
}

uint32_t intern_name(struct dwarf_harvest *harvest, const char *name, bool *failed)
{
    struct dwarf_worker *worker = harvest->worker;
    if (!name || !name[0])
        return 0;
    if (!GROW(&harvest->names))
        goto failed;
    if (!harvest->names.count)
        harvest->names.rows[harvest->names.count++] = "";
    if (!make_room(&worker->name_hash, &worker->name_room, harvest->names.rows, harvest->names.count, hash_place) ||
        !GROW(&harvest->names))
        goto failed;
    size_t k = hash_place(name);
    for (uint32_t id; (id = worker->name_hash[k & (worker->name_room - 1)]); k++)
        if (harvest->names.rows[id] == name)
            return id;
    if (harvest->names.count >= TEXTS_MAX)
        return 0;
    worker->name_hash[k & (worker->name_room - 1)] = (uint32_t)harvest->names.count;
    harvest->names.rows[harvest->names.count] = name;
    return (uint32_t)harvest->names.count++;
failed:
    *failed = true;
    return 0;
}
