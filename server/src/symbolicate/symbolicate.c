/*
 * symbolicate.c - looks frames up module by module, so that few modules are open at once; trie.c then copies the trie.
 */
#include "symbolicate/inside.h"

#include "base/fault.h"
#include "base/text.h"
#include "base/id.h"
#include "base/path.h"
#include "model/facts.h"
#include "model/frames.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 64 /* frames looked up together */

struct resolved_location *symbolicate_add(struct symbolicate_job *job)
{
    if (job->location_count == job->place_room) {
        size_t room = job->place_room * 2 + 64;
        struct resolved_location *locations = arena_array(job->arena, room, sizeof *locations);
        if (!locations)
            return NULL;
        if (job->location_count)
            memcpy(locations, job->locations, job->location_count * sizeof *locations);
        job->locations = locations;
        job->place_room = room;
    }
    return &job->locations[job->location_count++];
}

/*
 * Add a location for an unknown address; `start` is the begin of its function, or 0. Addresses outside all modules,
 * mostly of code made at run time, differ from run to run, so all of them have one name.
 */
static int add_bare(struct symbolicate_job *job, const struct where *where, uint64_t offset, uint64_t start)
{
    const char *image = where->name;
    struct resolved_location *location = symbolicate_add(job);
    if (!location)
        return MIRE_FAULT_MEMORY;
    *location = (struct resolved_location){
        .image = image, .build = where->build, .file = "", .offset = offset, .system = where->system};
    location->function = image[0] ? frames_bare(job->arena, image, start ? start : offset) : "[anonymous code]";
    job->unresolved++;
    return location->function ? 0 : MIRE_FAULT_MEMORY;
}

static int add_named(struct symbolicate_job *job, const struct where *where, uint64_t offset,
                     const struct symbol_frame *frame)
{
    char name[MIRE_PLACE_NAME];
    struct resolved_location *location = symbolicate_add(job);
    if (!location)
        return MIRE_FAULT_MEMORY;
    size_t len = symbol_demangle_within(name, sizeof name, frame->function, &job->names_ns);
    *location = (struct resolved_location){
        .function = arena_copy(job->arena, name, len),
        .image = where->name,
        .file = frame->file ? arena_strdup(job->arena, frame->file) : "",
        .line = frame->line,
        .offset = offset,
        .named = true,
        .inlined = frame->inlined,
        .system = where->system,
    };
    return location->function && location->file ? 0 : MIRE_FAULT_MEMORY;
}

/* Add the name that the report has. */
static int add_reported_names(struct symbolicate_job *job, const struct where *where, const struct report_frame *frame)
{
    const struct symbol_frame given = {
        .function = frame->names->function, .file = frame->names->file, .line = frame->names->line};
    return add_named(job, where, frame->offset, &given);
}

/* Add the locations of one frame that its module has. */
static int resolve_frame(struct symbolicate_job *job, struct chain *chain, const struct symbol_frame *frames,
                         size_t count, const struct where *where, const struct report_frame *frame)
{
    uint64_t offset = frame->offset;
    bool found = count && frames[count - 1].function;
    uint64_t start = count && frames[count - 1].start ? frames[count - 1].start + where->base : 0;
    chain->first = (uint32_t)job->location_count;
    chain->count = 1;
    if (frame->names && (!found || frame->names->whole))
        return add_reported_names(job, where, frame);
    if (!start && frame->into && frame->into <= offset)
        start = offset - frame->into; /* as the device's unwinder knows it */
    if (!found)
        return add_bare(job, where, offset, start);
    chain->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!frames[i].function || !frames[i].function[0])
            continue; /* an inlined call the compiler left nameless */
        int rc = add_named(job, where, offset, &frames[i]);
        if (rc)
            return rc;
        chain->count++;
    }
    return 0;
}

/* Resolve the frames `order[0..count)` of one image; `module` is NULL for an unknown image. */
static int resolve_image(struct symbolicate_job *job, const struct module *module, const struct where *where,
                         const uint32_t *order, size_t count)
{
    struct symbol_frame frames[2 * MIRE_SYMBOL_ROOM];
    struct symbol_chain chains[AT_ONCE];
    uint64_t offsets[AT_ONCE];
    int rc = 0;
    for (size_t at = 0, done; at < count && !rc; at += done) {
        size_t these = count - at < AT_ONCE ? count - at : AT_ONCE;
        for (size_t i = 0; i < these; i++) {
            offsets[i] = job->report->frames[order[at + i]].offset - where->base;
            chains[i] = (struct symbol_chain){0};
        }
        done = module ? module_lookup_all(frames, 2 * MIRE_SYMBOL_ROOM, chains, module, offsets, these) : these;
        for (size_t i = 0; i < done && !rc; i++)
            rc = resolve_frame(job, &job->chains[order[at + i]], frames + chains[i].first, chains[i].count, where,
                               &job->report->frames[order[at + i]]);
    }
    return rc;
}

/* Frame numbers sorted by image: order[first[i + 1]] .. order[first[i + 2] - 1] are those of image i, i = -1 included.
 */
static int sort_frames(uint32_t **order_out, uint32_t **first_out, const struct symbolicate_job *job)
{
    const struct report *report = job->report;
    uint32_t *first = arena_array(job->arena, report->image_count + 3, sizeof *first);
    uint32_t *order = arena_array(job->arena, report->frame_count, sizeof *order);
    if (!first || !order)
        return MIRE_FAULT_MEMORY;
    for (size_t f = 0; f < report->frame_count; f++)
        first[report->frames[f].image + 3]++;
    for (size_t i = 2; i < report->image_count + 3; i++)
        first[i] += first[i - 1];
    for (size_t f = 0; f < report->frame_count; f++)
        order[first[report->frames[f].image + 2]++] = (uint32_t)f;
    *order_out = order;
    *first_out = first;
    return 0;
}

static int name_image(struct where *out, struct symbolicate_job *job, const struct report_image *image)
{
    char hex[2 * MIRE_BUILD_ID_MAX + 1];
    hex_format(hex, image->id, image->id_len);
    out->name = path_base(image->name);
    out->build = arena_strdup(job->arena, hex);
    return out->build ? 0 : MIRE_FAULT_MEMORY;
}

/* List a debug file that would improve the names. A build id is listed once. */
static int note_missing(struct symbolicate_job *job, const struct symbolicate_missing *entry)
{
    const struct report_image *image = entry->image;
    for (size_t i = 0; i < job->missing_count; i++)
        if (job->missing[i].image->id_len == image->id_len &&
            !memcmp(job->missing[i].image->id, image->id, image->id_len))
            return 0;
    struct symbolicate_missing *kept = &job->missing[job->missing_count++];
    *kept = *entry;
    kept->defect = arena_strdup(job->arena, entry->defect);
    if (!entry->splits || !kept->defect) /* otherwise they belong to the module, which may be closed to make room */
        return kept->defect ? 0 : MIRE_FAULT_MEMORY;
    struct symbol_splits *splits = arena_array(job->arena, 1, sizeof *splits);
    if (splits)
        *splits = *entry->splits;
    kept->splits = splits;
    return splits ? 0 : MIRE_FAULT_MEMORY;
}

/* List the common file of dwz like an image, by its own id and name. */
static int note_alt(struct symbolicate_job *job, const struct report_image *of, const struct symbol_alt *alt)
{
    struct report_image *image = arena_array(job->arena, 1, sizeof *image);
    struct symbolicate_missing entry = {image, MIRE_DEPTH_NAMES, false, NULL, alt->contents_id ? "is damaged" : ""};
    if (!image)
        return MIRE_FAULT_MEMORY;
    *image = *of;
    memcpy(image->id, alt->id, alt->id_len);
    image->id_len = (uint8_t)alt->id_len;
    image->name = arena_strdup(job->arena, alt->name);
    return image->name ? note_missing(job, &entry) : MIRE_FAULT_MEMORY;
}

static enum symbol_depth had_of(const struct module *module)
{
    if (module_kind(module) == MIRE_SYMBOLS_NONE)
        return MIRE_DEPTH_UNKNOWN;
    return module_is_whole(module) ? MIRE_DEPTH_LINES : MIRE_DEPTH_NAMES;
}

/* Resolve the native frames of one image. */
static int resolve_native(struct symbolicate_job *job, struct symbols *symbols, const struct report_image *image,
                          const uint32_t *order, size_t count)
{
    struct module *module = NULL;
    struct where where = {.base = 0};
    int rc = symbols_find(&module, symbols, image->id, image->id_len, image->name, job->now_ms);
    if (!rc)
        rc = name_image(&where, job, image);
    if (rc)
        return rc;
    where.system = module_is_system(module);
    if (image->from_start)
        where.base = 0 - module_begin(module); /* the sum is taken modulo 2^64 */
    else if (module_is_from_base(module))
        where.base = image->base;
    bool debug = module_kind(module) == MIRE_SYMBOLS_DEBUG; /* split files are missing, or a part is damaged */
    const struct symbol_splits *splits =
        debug && module_missing_splits(module)->count ? module_missing_splits(module) : NULL;
    const struct symbol_alt *alt = debug ? module_missing_alt(module) : NULL;
    char defect[MIRE_SYMBOL_WHY];
    struct symbolicate_missing entry = {image, had_of(module), splits || alt, splits, defect};
    (void)module_defect(defect, module);
    if (image->id_len && (!module_is_whole(module) || module_has_lines_alone(module)))
        rc = note_missing(job, &entry);
    if (!rc && image->id_len && alt)
        rc = note_alt(job, image, alt);
    return rc ? rc : resolve_image(job, module, &where, order, count);
}

static int resolve_java(struct symbolicate_job *job, struct symbols *symbols, int32_t image, const uint32_t *order,
                        size_t count)
{
    const struct report_image *of = &job->report->images[image];
    struct symbolicate_missing entry = {of, MIRE_DEPTH_UNKNOWN, false, NULL, ""};
    struct java_image java = {.image = image, .order = order, .count = count};
    int rc = of->id_len ? symbols_find_mapping(&java.retrace, symbols, of->id, of->id_len, job->now_ms) : 0;
    if (!rc)
        rc = name_image(&java.where, job, of);
    if (!rc)
        rc = symbolicate_java(job, &java);
    if (java.retrace && !retrace_is_whole(java.retrace)) {
        java.missing = true;
        entry.had = MIRE_DEPTH_NAMES;
        entry.defect = MIRE_RETRACE_DEFECT;
    }
    return rc || !java.missing ? rc : note_missing(job, &entry);
}

static int by_build(const void *a, const void *b)
{
    const struct report_image *x = ((const struct symbolicate_missing *)a)->image;
    const struct report_image *y = ((const struct symbolicate_missing *)b)->image;
    int order = memcmp(x->id, y->id, x->id_len < y->id_len ? x->id_len : y->id_len);
    return order ? order : x->id_len - y->id_len;
}

static int resolve_frames(struct symbolicate_job *job, struct symbols *symbols)
{
    const struct report *report = job->report;
    uint32_t *order = NULL;
    uint32_t *first = NULL;
    int rc = sort_frames(&order, &first, job);
    job->missing =
        arena_array(job->arena, 2 * report->image_count, sizeof *job->missing); /* an image, and its file of dwz */
    if (!job->missing)
        return MIRE_FAULT_MEMORY;
    for (int32_t i = -1; !rc && i < (int32_t)report->image_count; i++) {
        const struct where nowhere = {.name = "", .build = ""};
        const uint32_t *these = order + first[i + 1];
        size_t count = first[i + 2] - first[i + 1];
        if (!count)
            continue;
        if (i < 0)
            rc = resolve_image(job, NULL, &nowhere, these, count);
        else if (report->images[i].script[0])
            rc = symbolicate_script(job, &report->images[i], these, count);
        else if (report->images[i].java)
            rc = resolve_java(job, symbols, i, these, count);
        else
            rc = resolve_native(job, symbols, &report->images[i], these, count);
    }
    if (job->missing_count)
        qsort(job->missing, job->missing_count, sizeof *job->missing, by_build);
    return rc;
}

/* In UTF-8: names in symbol tables, debug information and mappings come in any encoding. NULL: no memory. */
static const char *in_utf8(struct arena *arena, const char *text)
{
    struct text mended = {0};
    size_t len = text ? strlen(text) : 0;
    if (!text || text_is_valid(text, len))
        return text;
    text_add_valid(&mended, text, len);
    const char *copy = text_failed(&mended) ? NULL : arena_strdup(arena, mended.bytes ? mended.bytes : "");
    text_fini(&mended);
    return copy;
}

static int mend_texts(const struct symbolicate_job *job)
{
    for (size_t i = 0; i < job->location_count; i++) {
        struct resolved_location *location = &job->locations[i];
        const char **texts[] = {&location->function, &location->file, &location->image};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            bool had = *texts[k] != NULL;
            *texts[k] = in_utf8(job->arena, *texts[k]);
            if (had && !*texts[k])
                return MIRE_FAULT_MEMORY;
        }
    }
    return 0;
}

int symbolicate(struct resolved *out, struct symbolicate_counts *counts_out, struct arena *arena,
                struct symbols *symbols, const struct report *report, uint64_t now_ms)
{
    const struct report_event *event = &report->event;
    struct symbolicate_job job = {.arena = arena, .report = report, .now_ms = now_ms, .names_ns = MIRE_NAMES_NS};
    *out = (struct resolved){
        .trigger = event->trigger,
        .name = event->name,
        .gate = event->gate,
        .launch = event->launch,
        .foreground = event->foreground,
        .foreground_known = event->foreground_known,
        .threshold_ms = event->threshold_ms,
        .late_ms = event->late_ms,
        .suspended_ms = event->suspended_ms,
        .begin_slack_ms = event->begin_slack_ms,
        .guess = event->guess,
        .lock = event->lock,
        .holder = {.thread = -1, .frame = -1},
        .cpu = event->cpu,
        .disk = event->disk,
        .frames = event->frames,
        .suppressed = event->suppressed,
        .exit = report->exit,
        .thread = event->thread,
        .period_ms = event->period_ms,
        .hot = {.caller1 = -1, .caller2 = -1},
        .cost = report->cost,
        .bucket_count = report->bucket_count,
        .buckets = report->buckets,
    };
    job.chains = arena_array(arena, report->frame_count, sizeof *job.chains);
    int rc = job.chains ? resolve_frames(&job, symbols) : MIRE_FAULT_MEMORY;
    if (!rc)
        rc = mend_texts(&job);
    if (!rc)
        rc = symbolicate_trie(out, &job);
    if (!rc)
        rc = report_facts(&out->facts, &out->fact_count, arena, report);
    out->locations = job.locations;
    out->location_count = job.location_count;
    *counts_out = (struct symbolicate_counts){report->frame_count, job.unresolved, job.missing, job.missing_count};
    return rc;
}
