/* modules.c - the modules of a report whose rows may be missing. */
#include "pipeline/modules.h"

#include "rows/module.h"
#include "pipeline/stages.h"

#include "base/fault.h"
#include "base/hash.h"
#include "base/path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 128
#define PATH_MAX_BYTES 512

static uint64_t *slot_of(uint64_t *hash_out, struct modules *modules, int32_t app, const struct module_seen *seen)
{
    uint64_t hash = fnv_text(fnv_bytes(MIRE_HASH_START, &app, sizeof app), seen->module);
    *hash_out = (hash << 1 | seen->unowned) + !hash;
    return &modules->known[(hash ^ hash >> 32) & (MIRE_MODULES_KNOWN - 1)];
}

static void remember(struct modules *modules, int32_t app, const struct module_seen *seen)
{
    uint64_t hash;
    uint64_t *slot = slot_of(&hash, modules, app, seen);
    *slot = hash;
}

/* Is the image on a stack, and does no rule or fact name its owner? */
static bool is_unowned(const struct resolved *doc, const char *image)
{
    for (size_t i = 0; i < doc->location_count; i++)
        if (doc->locations[i].role == MIRE_ROLE_UNKNOWN && !doc->locations[i].rule &&
            !strcmp(doc->locations[i].image, image))
            return true;
    return false;
}

/* A library: libcart.so of /usr/lib/libcart.so.1.2. False: it is none. */
static bool find_seen(struct module_seen *out, const struct item *item, const struct report_image *image)
{
    const char *base = path_base(image->name), *so = strstr(base, ".so");
    size_t length = so ? (size_t)(so - base) + 3 : 0;
    if (!so || (base[length] && !(base[length] == '.' && isdigit((unsigned char)base[length + 1]))) ||
        length > NAME_MAX_BYTES || strlen(image->name) > PATH_MAX_BYTES)
        return false;
    *out = (struct module_seen){arena_copy(item->arena, base, length), image->name, is_unowned(&item->resolved, base)};
    return true;
}

static int by_module(const void *a, const void *b)
{
    return strcmp(((const struct module_seen *)a)->module, ((const struct module_seen *)b)->module);
}

/* Modules of a batch that may have no row, each once. */
struct seen_list {
    struct module_seen *seen;
    size_t count;
};

static void add_seen(struct seen_list *list, const struct module_seen *seen)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!strcmp(list->seen[i].module, seen->module)) { /* two versions of a library count as one */
            list->seen[i].unowned |= seen->unowned;
            return;
        }
    }
    if (list->count < MIRE_MODULES_A_BATCH)
        list->seen[list->count++] = *seen;
}

static int add_item(struct seen_list *list, struct modules *modules, const struct item *item)
{
    const struct report *report = &item->report;
    uint64_t hash;

    for (size_t i = 0; i < report->image_count; i++) {
        struct module_seen seen;
        if (!find_seen(&seen, item, &report->images[i]))
            continue;
        if (!seen.module)
            return MIRE_FAULT_MEMORY;
        if (*slot_of(&hash, modules, item->claim.app_id, &seen) != hash)
            add_seen(list, &seen);
    }

    return 0;
}

int modules_store(struct modules *modules, struct item *const *items, size_t count)
{
    struct seen_list list = {0};
    int rc = 0;

    if (!count)
        return 0;
    list.seen = arena_array(items[0]->arena, MIRE_MODULES_A_BATCH, sizeof *list.seen);
    if (!list.seen)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < count; i++)
        rc = add_item(&list, modules, items[i]);
    if (list.count)
        qsort(list.seen, list.count, sizeof *list.seen, by_module);
    for (size_t at = 0, these; !rc && at < list.count; at += these) {
        bool known[MIRE_MODULES_AT_ONCE];
        const struct module_seen *seen = &list.seen[at];
        these = list.count - at < MIRE_MODULES_AT_ONCE ? list.count - at : MIRE_MODULES_AT_ONCE;
        rc = rows_modules_store(known, items[0]->tx, items[0]->claim.app_id, seen, these);
        for (size_t i = 0; !rc && i < these; i++)
            if (known[i])
                remember(modules, items[0]->claim.app_id, &seen[i]);
    }
    return rc;
}
