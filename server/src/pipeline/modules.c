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

int modules_store(struct modules *modules, const struct item *item)
{
    const struct report *report = &item->report;
    struct module_seen seen[MIRE_MODULES_AT_ONCE];
    bool known[MIRE_MODULES_AT_ONCE];
    size_t count = 0, kept = 0;
    uint64_t hash;
    for (size_t i = 0; i < report->image_count && count < MIRE_MODULES_AT_ONCE; i++) {
        if (!find_seen(&seen[count], item, &report->images[i]))
            continue;
        if (!seen[count].module)
            return MIRE_FAULT_MEMORY;
        const uint64_t *slot = slot_of(&hash, modules, item->claim.app_id, &seen[count]);
        count += *slot != hash;
    }
    qsort(seen, count, sizeof *seen, by_module);
    for (size_t i = 0; i < count; i++) { /* two versions of a library count as one */
        bool same = kept && !strcmp(seen[kept - 1].module, seen[i].module);
        if (same)
            seen[kept - 1].unowned |= seen[i].unowned;
        else
            seen[kept++] = seen[i];
    }
    int rc = kept ? rows_modules_store(known, item->tx, item->claim.app_id, seen, kept) : 0;
    for (size_t i = 0; !rc && i < kept; i++)
        if (known[i])
            remember(modules, item->claim.app_id, &seen[i]);
    return rc;
}
