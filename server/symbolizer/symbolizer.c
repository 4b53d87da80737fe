/*
 * symbolizer.c - converts the files of a module, and keeps modules open.
 *
 * The list of open modules is short (tens), so the search is linear. The last module used moves to the front.
 */
#include "symbolizer/symbolizer.h"
#include "cache/cache.h"
#include "sandbox/child.h"
#include "java/retrace.h"
#include "symbolizer/search.h"
#include "symbolizer/cache_directory.h"
#include "symbolizer/splits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct entry *next;
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    char *path;              /* path of a module without build id */
    bool java;               /* the entry is a mapping of Java names */
    struct module *module;   /* NULL: not found */
    struct retrace *mapping; /* NULL: not found */
    uint64_t owner;          /* whose uploads were searched */
    uint64_t contents_id;    /* contents of the uploaded file at the search */
    uint64_t found_ms;
    int64_t arrivals; /* number of arrivals at the last search or the last comparison of contents_id */
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
    retrace_close(entry->mapping);
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

/* Convert again, with the split files that the first conversion asked for and that were found. */
static enum child_answer convert_with_splits(char *why, int fd, struct search *search)
{
    const struct symbols_options *options = search->options;
    struct child_files *files = &search->files;
    const char *beside = options->local_images ? search->path : "";
    if (splits_gather(&files->splits, options, fd, beside) || ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return CHILD_REFUSED;
    files->asks = false;
    return child_convert(why, fd, files, search->id, search->id_len, options->converter);
}

/* Commit `place` if `answer` is CHILD_DONE; otherwise report `why` and abort. */
static void end_place(struct cache_slot *place, struct search *search, enum child_answer answer, const char *why)
{
    const struct symbols_options *options = search->options;
    if (answer == CHILD_DONE) {
        bool kept = cache_directory_commit(place);
        if (kept && options->cache_dir && options->converted && search->uploaded[0])
            options->converted(options->uploaded_context, search->uploaded);
        if (options->cache_dir)
            (void)cache_directory_make_room(options->cache_dir, options->cache_max_bytes, 0);
        return;
    }
    if (answer == CHILD_WRONG && options->refused)
        options->refused(options->refused_context, search->path, why);
    cache_directory_abort(place, answer == CHILD_WRONG ? search->path : NULL);
}

/* Report the damage of a module whose readable parts are used. */
static void explain_damage(char *why, const struct module *module, const struct search *search)
{
    const struct symbols_options *options = search->options;
    if (module_defect(why, module) && options->refused)
        options->refused(options->refused_context, search->path, why);
}

static struct cache_key key_of(const struct search *search, enum symbol_kind kind)
{
    return (struct cache_key){search->options->cache_dir, search->id, search->id_len, search->contents_id, kind};
}

/* Convert the files found, unless another process did so while this one waited for the lock. */
static void convert_files(struct module **out, char *why, struct search *search)
{
    struct cache_key key = key_of(search, search->best);
    struct cache_slot place;
    if (!cache_directory_begin(&place, &key))
        return;
    if (!search->again && (cache_directory_open(out, &key) || cache_directory_refused(&key, search->path))) {
        cache_directory_abort(&place, NULL);
        return;
    }
    search->files.asks = true;
    enum child_answer answer =
        child_convert(why, place.fd, &search->files, search->id, search->id_len, search->options->converter);
    if (answer == CHILD_WANTS)
        answer = convert_with_splits(why, place.fd, search);
    const char *wrong = answer == CHILD_DONE ? cache_open_fd(out, place.fd, search->id, search->id_len, true) : NULL;
    if (wrong) {
        snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong);
        answer = CHILD_WRONG;
    }
    if (*out)
        explain_damage(why, *out, search);
    end_place(&place, search, answer, why);
}

/* Open a module from its cache, or convert its files. It stays NULL if there are no files. Returns 0 or a fault. */
static int load(struct entry *entry, const struct symbols_options *options)
{
    const uint8_t *id = entry->id;
    size_t id_len = entry->id_len;
    struct module **out = &entry->module;
    struct search search = SEARCH_INIT(options, id, id_len);
    char why[MIRE_SYMBOL_WHY];
    int rc = search_identify(&search);
    if (rc)
        return rc;
    struct cache_key key = key_of(&search, MIRE_SYMBOLS_DEBUG);
    entry->contents_id = search.contents_id;
    int came = cache_directory_open(out, &key) ? missing_files_came(options, *out) : 0;
    if (came < 0 || (*out && !came))
        return came;
    search.again = came > 0;
    cache_close(*out);
    *out = NULL;
    rc = search_all(&search, entry->path);
    key.kind = search.best;
    if (!rc && search.files.count && (came || !cache_directory_open(out, &key)))
        convert_files(out, why, &search);
    search_close(&search);
    return rc;
}

/* The same for a mapping, which is searched for among uploaded files only. */
static int load_mapping(struct entry *entry, const struct symbols_options *options)
{
    const uint8_t *id = entry->id;
    size_t id_len = entry->id_len;
    struct retrace **out = &entry->mapping;
    struct search search = SEARCH_INIT(options, id, id_len);
    struct cache_slot place;
    char why[MIRE_SYMBOL_WHY] = "";
    int rc = search_identify(&search);
    struct cache_key key = key_of(&search, MIRE_SYMBOLS_MAPPING);
    entry->contents_id = search.contents_id;
    if (rc || cache_directory_open_mapping(out, &key))
        return rc;
    rc = search_mapping(&search);
    if (!rc && search.files.count && cache_directory_begin(&place, &key)) {
        bool done = cache_directory_open_mapping(out, &key) || cache_directory_refused(&key, search.path);
        enum child_answer answer =
            done ? CHILD_REFUSED : child_convert(why, place.fd, &search.files, id, id_len, options->converter);
        const char *wrong = answer == CHILD_DONE ? retrace_map(out, place.fd, true) : NULL;
        if (wrong)
            snprintf(why, sizeof why, "%s", wrong);
        if (*out && !retrace_is_whole(*out) && !done && options->refused)
            options->refused(options->refused_context, search.path, MIRE_RETRACE_DEFECT);
        end_place(&place, &search, wrong ? CHILD_WRONG : answer, why);
    }
    search_close(&search);
    return rc;
}

bool module_open(struct module **out, char *why, const char *path, const uint8_t *id, size_t id_len,
                 const char *const *dirs, size_t dir_count)
{
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct search search = SEARCH_INIT(&options, id, id_len);
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

/* The module or mapping to find. */
struct wanted {
    const uint8_t *id;
    size_t id_len;
    const char *path;
    bool java;
    uint64_t owner;
};

static bool is_entry(const struct entry *entry, const struct wanted *wanted)
{
    if (entry->java != wanted->java || entry->owner != wanted->owner || entry->id_len != wanted->id_len ||
        (wanted->id_len && memcmp(entry->id, wanted->id, wanted->id_len) != 0))
        return false;
    return wanted->id_len || !strcmp(entry->path, wanted->path);
}

/* Take an entry out of the list; entries beyond open_max are closed on the way. */
static struct entry *take(struct symbols *symbols, const struct wanted *wanted)
{
    struct entry *found = NULL;
    size_t kept = 0;
    for (struct entry **link = &symbols->entries; *link;) {
        struct entry *entry = *link;
        if (!found && is_entry(entry, wanted)) {
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

/* Returns 1 if a new search could find more files or other contents, 0 if not, or a fault. */
static int is_stale(struct entry *entry, const struct symbols *symbols, int64_t arrivals, uint64_t now_ms)
{
    struct search search = SEARCH_INIT(&symbols->options, entry->id, entry->id_len);
    bool nothing = !entry->module && !entry->mapping;
    if (entry->arrivals == arrivals)
        return nothing && now_ms - entry->found_ms >= symbols->options.retry_ms;
    if (!entry->mapping && !module_is_whole(entry->module))
        return true;
    int rc = search_identify(&search);
    entry->arrivals = rc ? entry->arrivals : arrivals;
    return rc ? rc : search.contents_id != entry->contents_id;
}

enum symbol_kind module_kind(const struct module *module)
{
    return module ? (enum symbol_kind)cache_head(module)->kind : MIRE_SYMBOLS_NONE;
}

static int make_entry(struct entry **out, const struct symbols *symbols, const struct wanted *wanted)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry || !(entry->path = strdup(wanted->path))) {
        free(entry);
        return -1;
    }
    entry->java = wanted->java;
    entry->owner = wanted->owner;
    entry->id_len = wanted->id_len;
    if (wanted->id_len)
        memcpy(entry->id, wanted->id, wanted->id_len);
    int rc = wanted->java ? load_mapping(entry, &symbols->options) : load(entry, &symbols->options);
    if (rc) {
        free_entry(entry);
        return rc;
    }
    *out = entry;
    return 0;
}

/* Find the entry and move it to the front of the list; *out is NULL if it is not admitted. Returns 0 or a fault. */
static int find(struct entry **out, struct symbols *symbols, const struct wanted *wanted, uint64_t now_ms)
{
    const struct symbols_options *options = &symbols->options;
    int64_t arrivals = 0;
    int rc = 0;
    *out = NULL;
    if (options->admit && !options->admit(options->admit_context, wanted->id, wanted->id_len))
        return 0;
    struct entry *entry = take(symbols, wanted);
    if (options->arrivals)
        rc = options->arrivals(options->uploaded_context, &arrivals); /* before the search: later arrivals are new */
    int stale = rc || !entry ? rc : is_stale(entry, symbols, arrivals, now_ms);
    rc = stale < 0 ? stale : 0;
    if (entry && stale) {
        free_entry(entry);
        entry = NULL;
    }
    if (!rc && !entry) {
        rc = make_entry(&entry, symbols, wanted);
        if (!rc) {
            entry->found_ms = now_ms;
            entry->arrivals = arrivals;
        }
    }
    if (rc)
        return rc;
    entry->next = symbols->entries;
    symbols->entries = entry;
    *out = entry;
    return 0;
}

static uint64_t owner_of(const struct symbols *symbols)
{
    return symbols->options.owner ? symbols->options.owner(symbols->options.uploaded_context) : 0;
}

int symbols_find(struct module **out, struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path,
                 uint64_t now_ms)
{
    const struct wanted wanted = {id, id_len, path, false, owner_of(symbols)};
    struct entry *entry = NULL;
    int rc = 0;
    if (id_len <= MIRE_SYMBOL_ID_MAX && (id_len || symbols->options.local_images))
        rc = find(&entry, symbols, &wanted, now_ms);
    *out = entry ? entry->module : NULL;
    return rc;
}

int symbols_find_mapping(struct retrace **out, struct symbols *symbols, const uint8_t *id, size_t id_len,
                         uint64_t now_ms)
{
    const struct wanted wanted = {id, id_len, "", true, owner_of(symbols)};
    struct entry *entry = NULL;
    int rc = 0;
    if (id_len && id_len <= MIRE_SYMBOL_ID_MAX)
        rc = find(&entry, symbols, &wanted, now_ms);
    *out = entry ? entry->mapping : NULL;
    return rc;
}
