/*
 * symbols.c - converts the files of a module, and keeps modules open.
 *
 * The list of open modules is short (tens), so it is searched from end to end; the fullest use moves to the front.
 */
#include "symbols/symbols.h"
#include "symbols/cache.h"
#include "symbols/child.h"
#include "symbols/search.h"
#include "symbols/shelf.h"
#include "symbols/splits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct entry *next;
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    char *path;            /* of a module without build id */
    struct module *module; /* NULL: was not found */
    uint64_t found_ms;
    int64_t arrivals; /* when it was looked for */
};

struct symbols {
    struct symbols_options options;
    struct entry *entries; /* most recently used first */
};

int symbols_open(struct symbols **out, const struct symbols_options *options)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return -1;
    symbols->options = *options;
    *out = symbols;
    return 0;
}

static void free_entry(struct entry *entry)
{
    cache_close(entry->module);
    free(entry->path);
    free(entry);
}

void symbols_close(struct symbols *symbols)
{
    while (symbols && symbols->entries) {
        struct entry *entry = symbols->entries;
        symbols->entries = entry->next;
        free_entry(entry);
    }
    free(symbols);
}

/* Convert again, with the split files that can be found for what the first go wanted. */
static enum child_answer convert_with_splits(char *why, int fd, struct search *search)
{
    const struct symbols_options *options = search->options;
    struct child_files *files = &search->files;
    struct splits_lack lack;
    const char *beside = options->local_images ? search->path : "";
    if (splits_gather(&files->splits, &lack, options, fd, beside) || ftruncate(fd, 0) != 0 ||
        lseek(fd, 0, SEEK_SET) != 0)
        return CHILD_REFUSED;
    files->asks = false;
    enum child_answer answer = child_convert(why, fd, files, search->id, search->id_len, options->converter);
    if (answer == CHILD_DONE)
        splits_note(options, search->id, search->id_len, &lack);
    return answer;
}

/* Convert what was found, unless somebody did while we waited for our turn. */
static void convert_files(struct module **out, char *why, struct search *search)
{
    const struct symbols_options *options = search->options;
    struct shelf_place place;
    if (!shelf_begin(&place, options->cache_dir, search->id, search->id_len, search->best))
        return;
    if (!search->anew && shelf_open(out, options->cache_dir, search->id, search->id_len, search->best) != SHELF_NONE) {
        shelf_abort(&place, false);
        return;
    }
    search->files.asks = true;
    enum child_answer answer =
        child_convert(why, place.fd, &search->files, search->id, search->id_len, options->converter);
    if (answer == CHILD_WANTS)
        answer = convert_with_splits(why, place.fd, search);
    const char *wrong = answer == CHILD_DONE ? cache_open_fd(out, place.fd, search->id, search->id_len, true) : NULL;
    if (wrong)
        snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong);
    if (answer == CHILD_DONE && !wrong) {
        bool kept = shelf_commit(&place);
        if (kept && options->cache_dir && options->converted && search->uploaded[0])
            options->converted(options->uploaded_context, search->uploaded);
        if (options->cache_dir)
            (void)symbols_make_room(options->cache_dir, options->cache_max_bytes, 0);
        return;
    }
    if (answer != CHILD_REFUSED && options->refused)
        options->refused(options->refused_context, search->path, why);
    shelf_abort(&place, answer != CHILD_REFUSED);
}

/* A module from its cache, or from the files it is made of; *out is NULL if there is nothing. 0 or a fault. */
static int load(struct module **out, const struct symbols_options *options, const uint8_t *id, size_t id_len,
                const char *image)
{
    struct search search = SEARCH_INIT(options, id, id_len);
    char why[MIRE_SYMBOL_WHY];
    *out = NULL;
    int came = splits_came(options, id, id_len);
    if (came < 0)
        return came;
    search.anew = came > 0;
    if (!came && shelf_open(out, options->cache_dir, id, id_len, MIRE_SYMBOLS_DEBUG) != SHELF_NONE)
        return 0;
    int rc = search_all(&search, image);
    if (!rc && search.files.count &&
        (came || shelf_open(out, options->cache_dir, id, id_len, search.best) == SHELF_NONE))
        convert_files(out, why, &search);
    search_close(&search);
    return rc;
}

bool module_open(struct module **out, char *why, const char *path, const char *const *dirs, size_t dir_count)
{
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct search search = SEARCH_INIT(&options, NULL, 0);
    options.local_images = true;
    options.dirs = dirs;
    options.dir_count = dir_count;
    *out = NULL;
    search_take(&search, path);
    snprintf(why, MIRE_SYMBOL_WHY, "%s", search.wrong ? search.wrong : "");
    search_linked(&search, path);
    (void)search_alt(&search);
    if (search.files.count)
        convert_files(out, why, &search);
    search_close(&search);
    return *out != NULL;
}

void module_close(struct module *module)
{
    cache_close(module);
}

static bool is_entry(const struct entry *entry, const uint8_t *id, size_t id_len, const char *path)
{
    if (entry->id_len != id_len || (id_len && memcmp(entry->id, id, id_len) != 0))
        return false;
    return id_len || !strcmp(entry->path, path);
}

/* Take an entry out of the list; closes the ones beyond open_max on the way. */
static struct entry *take(struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path)
{
    struct entry *found = NULL;
    size_t kept = 0;
    for (struct entry **link = &symbols->entries; *link;) {
        struct entry *entry = *link;
        if (!found && is_entry(entry, id, id_len, path)) {
            *link = entry->next;
            found = entry;
        } else if (++kept >= symbols->options.open_max && kept > 1) {
            *link = entry->next;
            free_entry(entry);
        } else {
            link = &entry->next;
        }
    }
    return found;
}

/* May there be more by now than what was found? Of what DWARF was found for there is not. */
static bool is_stale(const struct entry *entry, const struct symbols *symbols, int64_t arrivals, uint64_t now_ms)
{
    if (module_kind(entry->module) == MIRE_SYMBOLS_DEBUG)
        return false;
    return entry->arrivals != arrivals || (!entry->module && now_ms - entry->found_ms >= symbols->options.retry_ms);
}

enum symbol_kind module_kind(const struct module *module)
{
    return module ? (enum symbol_kind)cache_head(module)->kind : MIRE_SYMBOLS_NONE;
}

int symbols_find(struct module **out, struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path,
                 uint64_t now_ms)
{
    const struct symbols_options *options = &symbols->options;
    int64_t arrivals = 0;
    *out = NULL;
    if (id_len > MIRE_SYMBOL_ID_MAX || (!id_len && !symbols->options.local_images))
        return 0;
    if (symbols->options.admit && !symbols->options.admit(symbols->options.admit_context, id, id_len))
        return 0;
    struct entry *entry = take(symbols, id, id_len, path);
    if (options->arrivals && (!entry || module_kind(entry->module) != MIRE_SYMBOLS_DEBUG)) {
        int rc = options->arrivals(options->uploaded_context, &arrivals); /* before looking: what comes later, counts */
        if (rc) {
            if (entry)
                free_entry(entry);
            return rc;
        }
    }
    if (entry && is_stale(entry, symbols, arrivals, now_ms)) {
        free_entry(entry);
        entry = NULL;
    }
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        int rc = entry && (entry->path = strdup(path)) ? load(&entry->module, &symbols->options, id, id_len, path) : -1;
        if (rc) {
            if (entry)
                free_entry(entry);
            return rc;
        }
        if (id_len)
            memcpy(entry->id, id, id_len);
        entry->id_len = id_len;
        entry->found_ms = now_ms;
        entry->arrivals = arrivals;
    }
    entry->next = symbols->entries;
    symbols->entries = entry;
    *out = entry->module;
    return 0;
}
