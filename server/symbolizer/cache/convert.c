/*
 * convert.c - shares the units among threads, then writes their results.
 *
 * Threads take units from a common counter. The last units are taken longest first, so that no long unit is left to one
 * thread. The others are taken in order, since functions of lower units need not be read again. Each thread fills a
 * harvest on its own stack; harvests in one array would share cache lines. The cache does not depend on which thread
 * read a unit.
 */
#include "cache/convert.h"
#include "cache/breakpad.h"
#include "cache/merge.h"
#include "cache/others.h"

#include "dwarf/dwarf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAST 64 /* units: some hundredths of a second */

struct convert_job {
    struct dwarf *dwarf;
    atomic_size_t next; /* next unit; any thread, relaxed */
    atomic_bool failed; /* any thread, relaxed */
    size_t last_count;
    struct last_unit {
        uint64_t bytes;
        size_t unit;
    } last[LAST];
};

struct convert_share {
    struct convert_job *job;
    struct merge_input *input; /* filled after all units are read */
    pthread_t thread;
};

struct naming {
    struct symbol_names *names;
    struct symbol_names *frames;
    const struct convert_source *source;
    uint64_t base;
};

static int by_bytes(const void *a, const void *b)
{
    const struct last_unit *x = a;
    const struct last_unit *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Sort the last units, longest first. */
static void order_last(struct convert_job *job)
{
    size_t count = dwarf_unit_count(job->dwarf);
    job->last_count = count < LAST ? count : LAST;
    for (size_t i = 0; i < job->last_count; i++) {
        size_t unit = count - job->last_count + i;
        job->last[i] = (struct last_unit){dwarf_unit_bytes(job->dwarf, unit), unit};
    }
    qsort(job->last, job->last_count, sizeof *job->last, by_bytes);
}

static void *read_units(void *context)
{
    struct convert_share *share = context;
    struct convert_job *job = share->job;
    struct dwarf_harvest harvest = {0};
    size_t count = dwarf_unit_count(job->dwarf);
    size_t in_order = count - job->last_count;
    for (size_t i; (i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < count;) {
        size_t unit = i < in_order ? i : job->last[i - in_order].unit;
        if (atomic_load_explicit(&job->failed, memory_order_relaxed) || !dwarf_read(&harvest, job->dwarf, unit)) {
            atomic_store_explicit(&job->failed, true, memory_order_relaxed);
            break;
        }
    }
    dwarf_harvest_rest(&harvest);
    share->input->harvest = harvest;
    if (!merge_input_prepare(share->input))
        atomic_store_explicit(&job->failed, true, memory_order_relaxed);
    return NULL;
}

/* Read the symbols and the functions of the unwind table. Returns false out of memory. */
static bool read_names(const struct naming *to)
{
    const struct convert_source *source = to->source;
    for (size_t i = 0; i < source->object_count; i++) {
        const struct object *object = source->objects[i];
        if (!names_add(to->names, object->symbols, object->symbol_count, object, to->base) ||
            !names_add(to->frames, object->frames, object->frame_count, object, to->base))
            return false;
    }
    names_seal(to->names);
    names_seal(to->frames);
    return true;
}

/* Read all units, and the names while other threads read units. Returns false out of memory. */
static bool read_all(struct merge_input *merge, struct dwarf *dwarf, const struct naming *naming, unsigned threads)
{
    struct convert_job job = {.dwarf = dwarf};
    struct convert_share shares[MIRE_CONVERT_THREADS];
    unsigned started = 1;
    order_last(&job);
    for (unsigned i = 0; i < threads; i++)
        shares[i] = (struct convert_share){.job = &job, .input = &merge[i]};
    while (started < threads && !pthread_create(&shares[started].thread, NULL, read_units, &shares[started]))
        started++;
    bool named = read_names(naming);
    read_units(&shares[0]);
    while (started > 1)
        pthread_join(shares[--started].thread, NULL);
    return named && !job.failed;
}

static const struct object *first_with_dwarf(const struct convert_source *source)
{
    for (size_t i = 0; i < source->object_count; i++)
        if (source->objects[i]->facts.has_dwarf)
            return source->objects[i];
    return NULL;
}

/* The start address of offsets: the lowest address of code. */
static bool find_base(uint64_t *out, const struct convert_source *source)
{
    *out = UINT64_MAX;
    for (size_t i = 0; i < source->object_count; i++)
        if (source->objects[i]->code_count && source->objects[i]->code[0].low < *out)
            *out = source->objects[i]->code[0].low;
    return *out != UINT64_MAX;
}

static void write_head(struct cache_head *head, const struct convert_source *source, uint64_t base, bool has_dwarf)
{
    const struct object_facts *facts = &source->objects[0]->facts;
    const uint8_t *id = source->id_len ? source->id : facts->id;
    size_t id_len = source->id_len ? source->id_len : facts->id_len;
    memcpy(head->id, id, id_len);
    head->id_len = (uint8_t)id_len;
    head->base = base;
    head->kind = has_dwarf ? MIRE_SYMBOLS_DEBUG : MIRE_SYMBOLS_SYMTAB;
    memcpy(head->arch, facts->arch, strnlen(facts->arch, sizeof head->arch - 1));
    if (facts->begin <= base && base - facts->begin <= UINT32_MAX)
        head->lead = (uint32_t)(base - facts->begin);
}

/* Returns true if a file with DWARF would add details. With split or object files it would not. */
static bool has_lines_alone(const struct convert_source *source, const struct object *object)
{
    return object && !source->split_count && !source->alt && object_depth(object) == MIRE_DEPTH_LINES;
}

struct giving {
    struct merge *merge;
    const struct convert_source *source;
};

static void *give_back(void *context)
{
    struct giving *giving = context;
    for (size_t i = 0; i < giving->merge->count; i++)
        merge_input_fini(&giving->merge->rows[i]);
    for (size_t i = 0; i < giving->source->object_count; i++)
        object_rest(giving->source->objects[i]);
    return NULL;
}

/* Merge and write everything. The inputs are freed after the merge, beside the writing if a thread can be started,
 * otherwise before. */
static const char *pack_all(int fd, struct giving *giving, struct cache_head *head,
                            const struct cache_missing_file *missing_files, unsigned threads)
{
    struct pack pack;
    pthread_t thread;
    uint32_t high;
    bool good = pack_init(&pack) && merge_pack(&high, &pack, giving->merge, threads > 1);
    const char *wrong = good ? NULL : "needs more memory than there is";
    bool beside = threads > 1 && !pthread_create(&thread, NULL, give_back, giving);
    if (!beside)
        give_back(giving);
    if (good && !pack_write(&pack, fd, head, missing_files, high))
        wrong = "could not be written";
    if (beside)
        pthread_join(thread, NULL);
    pack_fini(&pack);
    return wrong;
}

static int by_id(const void *a, const void *b)
{
    const struct dwarf_wanted *x = a;
    const struct dwarf_wanted *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* List the units that need a split file, lowest id first; freed by the caller. NULL: out of memory. */
static struct dwarf_wanted *list_wanted(size_t *count_out, const struct dwarf *dwarf)
{
    struct dwarf_wanted *list = calloc(MIRE_CONVERT_WANTS, sizeof *list);
    *count_out = list ? dwarf_wants(list, MIRE_CONVERT_WANTS, dwarf) : 0;
    if (*count_out)
        qsort(list, *count_out, sizeof *list, by_id);
    return list;
}

/* Write the split files to request. Returns false if a system call fails. */
static bool write_wants(size_t *count_out, int fd, const struct dwarf *dwarf)
{
    size_t count;
    struct dwarf_wanted *list = list_wanted(&count, dwarf);
    bool good = list != NULL;
    for (size_t i = 0; i < count && good; i++) {
        struct convert_want want = {.id = list[i].id};
        bool whole = list[i].name[0] == '/' || !list[i].directory[0];
        int len = list[i].name[0] ? snprintf(want.path, sizeof want.path, "%s%s%s", whole ? "" : list[i].directory,
                                             whole ? "" : "/", list[i].name)
                                  : 0;
        if (len >= (int)sizeof want.path)
            want.path[0] = '\0';
        good = write(fd, &want, sizeof want) == (ssize_t)sizeof want;
    }
    free(list);
    *count_out = count;
    return good;
}

/* The split file that has a unit, or should have it; NULL: not found. */
static const struct convert_split *split_of(const struct convert_source *source, uint64_t id)
{
    for (size_t i = 0; i < source->split_count; i++)
        if (source->splits[i].package || source->splits[i].id == id)
            return &source->splits[i];
    return NULL;
}

/* Returns true if a dwz file, whose units have no code, cannot be read completely. Out of memory counts as damage. */
static bool is_damaged(struct dwarf *alt)
{
    struct dwarf_harvest harvest = {.everything = true};
    bool good = !dwarf_units_lost(alt);
    for (size_t i = 0; i < dwarf_unit_count(alt) && good; i++)
        good = dwarf_read(&harvest, alt, i) && !harvest.damaged_units;
    dwarf_harvest_fini(&harvest);
    return !good;
}

/* Record that the dwz file is missing or damaged. */
static void note_alt(struct cache_missing_file *missing_files, struct cache_head *head,
                     const struct object_facts *facts, uint64_t contents_id)
{
    struct cache_missing_file missing_file = {
        .contents_id = contents_id, .id_len = (uint8_t)facts->alt_id_len, .is_alt = 1};
    memcpy(missing_file.id, facts->alt_id, facts->alt_id_len);
    snprintf(missing_file.name, sizeof missing_file.name, "%s", facts->alt_name);
    missing_files[head->missing_count++] = missing_file;
}

/* Record the split files that are missing, damaged or incomplete. Returns false out of memory. */
static bool note_missing_files(struct cache_missing_file *missing_files, struct cache_head *head,
                               struct convert_facts *facts, const struct convert_source *source,
                               const struct dwarf *dwarf)
{
    size_t count;
    struct dwarf_wanted *list = list_wanted(&count, dwarf);
    for (size_t i = 0; i < count; i++) {
        const struct convert_split *split = split_of(source, list[i].id);
        struct cache_missing_file missing_file = {.contents_id = split ? split->contents_id : 0,
                                                  .id_len = MIRE_SYMBOL_SPLIT_ID};
        split_id_bytes(missing_file.id, split ? split->id : list[i].id);
        facts->damaged_units += split && !list[i].damaged;
        if (head->missing_count &&
            !memcmp(missing_files[head->missing_count - 1].id, missing_file.id, sizeof missing_file.id))
            continue; /* several units of a package, or two equal units */
        if (head->missing_count < MIRE_SYMBOL_SPLITS)
            missing_files[head->missing_count++] = missing_file;
    }
    free(list);
    return list != NULL;
}

/* Open the units, and add those of other files. Damaged other files are ignored. Returns NULL, or the problem. */
static const char *open_dwarf(struct dwarf **out, struct dwarf **alt_out, const struct object *object,
                              const struct convert_source *source, uint64_t base, unsigned threads)
{
    if (source->alt)
        (void)dwarf_open(alt_out, source->alt, NULL, base, threads);
    const char *wrong = dwarf_open(out, object, *alt_out, base, threads);
    for (size_t i = 0; i < source->split_count && !wrong; i++)
        if (source->splits[i].object)
            (void)dwarf_add_split(*out, source->splits[i].object);
    return wrong;
}

/* One conversion while it is made. `rows` and `dwarfs` have `room` members. */
struct cache_conversion {
    const struct convert_source *source;
    struct convert_source alone; /* in place of `source`, for a Breakpad file */
    struct convert_facts *out;
    int fd;
    unsigned threads;
    size_t room;
    struct merge_input *rows;
    struct dwarf **dwarfs; /* units of the object files that a program's debug map names */
    struct symbol_names names, frames;
    struct merge merge;
    struct naming naming;
    struct cache_head head;
    struct cache_missing_file missing_files[MIRE_CACHE_MISSING];
    struct dwarf *dwarf, *alt; /* NULL: none */
    uint64_t base;
    const struct object *object; /* the first with DWARF; NULL: none */
    const struct object *others; /* the object with a debug map; NULL: none */
    bool is_breakpad;
};

static const char no_memory[] = "needs more memory than there is", not_written[] = "could not be written";

static const char *begin_conversion(struct cache_conversion *c)
{
    c->object = first_with_dwarf(c->source);
    c->is_breakpad = c->object && c->object->facts.format == MIRE_FORMAT_BREAKPAD;
    if (c->is_breakpad) { /* its offsets have another base than those of other files */
        c->alone = *c->source;
        c->alone.objects[0] = c->object;
        c->alone.object_count = 1;
        c->source = &c->alone;
    }
    c->others = c->object ? NULL : others_first(c->source);
    c->room = c->source->split_count > MIRE_CONVERT_THREADS ? c->source->split_count : MIRE_CONVERT_THREADS;
    c->rows = calloc(c->room, sizeof *c->rows);
    c->dwarfs = calloc(c->room, sizeof(struct dwarf *));
    if (!c->rows || !c->dwarfs)
        return no_memory;
    if (!c->source->object_count || !find_base(&c->base, c->source))
        return "has no code";
    c->merge = (struct merge){.rows = c->rows, .names = &c->names, .frames = &c->frames};
    c->naming = (struct naming){&c->names, &c->frames, c->source, c->base};
    return NULL;
}

static const char *read_breakpad(struct cache_conversion *c)
{
    c->merge.count = 1;
    bool is_read = breakpad_harvest(&c->rows[0].harvest, c->object, c->base) && merge_input_prepare(&c->rows[0]);
    c->out->damaged_units = c->rows[0].harvest.damaged_units;
    return is_read ? NULL : no_memory;
}

/* Write the list of the further files that the program wants, if the source asks for it. out->wanted: it was written. */
static const char *ask_for_files(struct cache_conversion *c)
{
    if (c->dwarf && !write_wants(&c->out->wanted, c->fd, c->dwarf))
        return not_written;
    return c->others && !others_wanted(&c->out->wanted, c->fd, c->others) ? not_written : NULL;
}

/* Read the units of the object with DWARF, and note the files that they lack. */
static const char *read_dwarf(struct cache_conversion *c)
{
    if (c->threads < 1)
        c->threads = 1;
    if (c->threads > MIRE_CONVERT_THREADS)
        c->threads = MIRE_CONVERT_THREADS;
    c->merge.count = c->threads;
    bool is_read = read_all(c->rows, c->dwarf, &c->naming, c->threads);
    *c->out = (struct convert_facts){.units = dwarf_unit_count(c->dwarf),
                                     .damaged_units = dwarf_units_lost(c->dwarf),
                                     .dwarf_bytes = c->object->dwarf_bytes};
    for (size_t i = 0; i < c->threads; i++)
        c->out->damaged_units += c->rows[i].harvest.damaged_units;
    if (!is_read || !note_missing_files(c->missing_files, &c->head, c->out, c->source, c->dwarf))
        return no_memory;
    if (c->object->facts.alt_id_len && (!c->alt || is_damaged(c->alt)))
        note_alt(c->missing_files, &c->head, &c->object->facts, c->source->alt_contents_id);
    return NULL;
}

/* Read all that is known of the code. */
static const char *read_source(struct cache_conversion *c)
{
    if (c->dwarf) {
        const char *wrong = read_dwarf(c);
        if (wrong)
            return wrong;
    } else if (!read_names(&c->naming)) {
        return no_memory;
    }
    return c->others ? others_read(c->out, &c->merge, c->dwarfs, c->source, c->others, c->base) : NULL;
}

static const char *write_cache(struct cache_conversion *c)
{
    write_head(&c->head, c->source, c->base, c->object || (c->merge.count && !c->out->damaged_units));
    c->head.flags = (c->is_breakpad ? MIRE_CACHE_FROM_BASE : 0) |
                    (has_lines_alone(c->source, c->object) ? MIRE_CACHE_LINES : 0) |
                    (c->source->objects[0]->facts.system ? MIRE_CACHE_SYSTEM : 0);
    c->head.damaged_units = c->out->damaged_units < UINT16_MAX ? (uint16_t)c->out->damaged_units : UINT16_MAX;
    return pack_all(c->fd, &(struct giving){&c->merge, c->source}, &c->head, c->missing_files, c->threads);
}

static void end_conversion(struct cache_conversion *c)
{
    for (size_t i = 0; i < c->merge.count; i++)
        merge_input_fini(&c->rows[i]);
    names_fini(&c->names);
    names_fini(&c->frames);
    dwarf_close(c->dwarf);
    dwarf_close(c->alt);
    for (size_t i = 0; c->dwarfs && i < c->room; i++)
        dwarf_close(c->dwarfs[i]);
    free(c->rows);
    free(c->dwarfs);
}

const char *convert(struct convert_facts *out, int fd, const struct convert_source *source, unsigned threads)
{
    struct cache_conversion c = {.source = source, .out = out, .fd = fd, .threads = threads};

    *out = (struct convert_facts){0};
    const char *wrong = begin_conversion(&c);
    if (!wrong && c.is_breakpad)
        wrong = read_breakpad(&c);
    else if (!wrong && c.object)
        wrong = open_dwarf(&c.dwarf, &c.alt, c.object, c.source, c.base, threads);
    if (!wrong && c.source->asks)
        wrong = ask_for_files(&c);
    if (!wrong && !out->wanted)
        wrong = read_source(&c);
    if (!wrong && !out->wanted)
        wrong = write_cache(&c);
    end_conversion(&c);
    return wrong;
}

void split_id_bytes(uint8_t *out, uint64_t id)
{
    for (unsigned i = 0; i < MIRE_SYMBOL_SPLIT_ID; i++)
        out[i] = (uint8_t)(id >> (56 - 8 * i));
}
