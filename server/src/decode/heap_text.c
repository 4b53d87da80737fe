/*
 * heap_text.c - heap profiles in text: gperftools' HEAPPROFILE, tcmalloc's heapz, growthz and fragmentationz, Go's
 * /debug/pprof/heap?debug=1, jemalloc's and Rust's tools that print the same.
 *
 *     heap profile:    144:  8498176 [   144:  8498176] @ heapz_v2/524288
 *          1:     9216 [     1:     9216] @ 0xc635c8 0x42ecc3 ...        live [ever allocated] @ return addresses
 *     #	0x42ecc2	main.keep+0x12	/src/app.go:18              Go's names, heap_names.h
 *     MAPPED_LIBRARIES:   or   --- Memory map: ---
 *     00400000-00fcb000 r-xp 00000000 08:01 12345  /usr/bin/server       as in /proc/PID/maps
 *       00400000-00fcb000: $source/server                                the short form, with "source=/home" before it
 *
 * Sampled amounts are scaled as pprof does it: block sizes of the mean, 1 / (1 - exp(-size / period)). Modules stand at
 * the end, so the text is read twice. The grammar is that of pprof's legacy_profile.go.
 */
#include "decode/backtrace.h"
#include "decode/heap_names.h"
#include "decode/lines.h"
#include "decode/pprof.h"

#include "base/path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAPS_MAX   65536
#define NAMES_MAX  64 /* of the short form's "name=value" */
#define FRAMES_MAX 1024

struct map {
    uint64_t start, end, offset;
    const char *path;
    int32_t image; /* -1: none yet */
};

struct alias {
    struct line_span name, value;
};

struct heap_text {
    struct build build;
    struct profile_sums profile;
    struct build_list maps;
    struct heap_names names;
    struct alias aliases[NAMES_MAX];
    size_t alias_count;
    bool scaled, has_total;
    uint64_t period;
    const char *wrong;
    uint32_t stack[FRAMES_MAX];
    size_t deeper;
};

/* ---- the header ---- */

/* "13: 1595680 [47130736: 2584596557304] @" with any blanks. */
static bool read_amounts(struct profile_amount *live, struct profile_amount *total, struct line_span *line)
{
    uint64_t *const numbers[] = {&live->count, &live->bytes, &total->count, &total->bytes};
    static const char *const behind[] = {":", "[", ":", "]"};
    for (int i = 0; i < 4; i++) {
        bool negative;
        span_trim(line);
        negative = span_take(line, "-"); /* freed without having been seen */
        if (!span_number(numbers[i], line, 10))
            return false;
        if (negative)
            *numbers[i] = 0;
        span_trim(line);
        if (!span_take(line, behind[i]))
            return false;
    }
    span_trim(line);
    return span_take(line, "@");
}

static bool read_header(struct heap_text *h, struct line_span line)
{
    struct profile_amount live, total;
    uint64_t period = 0;
    span_trim(&line);
    if (!span_take(&line, "heap profile:") || !read_amounts(&live, &total, &line))
        return false;
    h->has_total = (total.count != live.count && total.count) || (total.bytes != live.bytes && total.bytes);
    span_trim(&line);
    const char *slash = span_find(&line, "/");
    struct line_span kind = slash ? span_cut(&line, slash, 1) : line;
    if (slash)
        span_number(&period, &line, 10);
    h->scaled = span_is(&kind, "heapz_v2") || span_is(&kind, "heap_v2") || span_is(&kind, "heap");
    h->period = !h->scaled ? 1 : span_is(&kind, "heap") ? period / 2 : period;
    return h->scaled || span_is(&kind, "heapprofile") || span_begins(&kind, "growth") ||
           span_begins(&kind, "fragmentation");
}

/* ---- modules ---- */

/* "$source/server" with the value of source put in. */
static const char *expand(struct heap_text *h, struct line_span path)
{
    for (size_t i = 0; path.len && *path.at == '$' && i < h->alias_count; i++) {
        const struct alias *alias = &h->aliases[i];
        struct line_span rest = {path.at + 1, path.len - 1};
        if (rest.len < alias->name.len || memcmp(rest.at, alias->name.at, alias->name.len) != 0)
            continue;
        span_skip(&rest, alias->name.len);
        char text[512];
        int len = snprintf(text, sizeof text, "%.*s%.*s", (int)(alias->value.len < 256 ? alias->value.len : 256),
                           alias->value.at, (int)(rest.len < 255 ? rest.len : 255), rest.at);
        return build_text(&h->build, text, (size_t)len);
    }
    return build_text(&h->build, path.at, path.len);
}

/* Behind the addresses of the long form: "r-xp 00000000 08:01 12345  /path". False: it is no code. */
static bool read_long(struct map *map, struct line_span *line)
{
    struct line_span rights = {line->at, 4};
    if (!span_find(&rights, "x"))
        return false;
    span_skip(line, 4);
    span_trim(line);
    if (!span_number(&map->offset, line, 16))
        return false;
    for (int i = 0; i < 2; i++) { /* device and inode */
        span_trim(line);
        while (line->len && *line->at != ' ')
            span_skip(line, 1);
    }
    span_trim(line);
    return true;
}

static bool is_rights(const struct line_span *line)
{
    return line->len >= 5 && (line->at[0] == 'r' || line->at[0] == '-') && (line->at[1] == 'w' || line->at[1] == '-') &&
           (line->at[2] == 'x' || line->at[2] == '-') && line->at[4] == ' ';
}

static void read_map(struct heap_text *h, struct line_span line)
{
    struct map map = {.image = -1};
    span_trim(&line);
    const char *equals = span_find(&line, "=");
    struct line_span all = line;
    if (!span_number(&map.start, &line, 16) || !span_take(&line, "-") || !span_number(&map.end, &line, 16)) {
        if (equals && h->alias_count < NAMES_MAX) {
            struct alias *alias = &h->aliases[h->alias_count++];
            alias->name = span_cut(&all, equals, 1);
            span_trim(&alias->name);
            span_trim(&all);
            alias->value = all;
        }
        return;
    }
    span_take(&line, ":");
    span_trim(&line);
    if (is_rights(&line) && !read_long(&map, &line))
        return;
    map.path = expand(h, line);
    struct map *row = build_push(&h->build, &h->maps, sizeof *row, MAPS_MAX);
    if (row)
        *row = map;
}

static int by_start(const void *a, const void *b)
{
    const struct map *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static struct map *map_of(struct heap_text *h, uint64_t address)
{
    struct map *maps = h->maps.rows;
    size_t low = 0, high = h->maps.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->maps.count && maps[low].start <= address ? &maps[low] : NULL;
}

/* ---- samples ---- */

/* A return address: the call is the byte before. */
static uint32_t frame_of(struct heap_text *h, uint64_t address, const struct report_names *named)
{
    struct map *map = map_of(h, address - 1);
    if (map && map->image < 0) {
        struct report_image image = {.name = map->path, .size = {map->end - map->start, true}};
        profile_place(&image, map->start, map->offset);
        map->image = build_image(&h->build, &image);
    }
    if (!map || map->image < 0)
        return build_named(&h->build, -1, address - 1, MIRE_FOUND_PC, named);
    const struct report_image *image = (const struct report_image *)h->build.images.rows + map->image;
    return build_named(&h->build, map->image, address - 1 - image->load, MIRE_FOUND_PC, named);
}

/* One, or one for each call that is inlined there. */
static void push_frames(struct heap_text *h, size_t *depth, uint64_t address)
{
    size_t count = 1;
    const struct heap_name *names = heap_names_find(&count, &h->names, address);
    for (size_t i = 0; i < count; i++) {
        struct report_names named = {.function = ""};
        if (names)
            named = names[i].names;
        named.whole = count > 1;
        if (*depth < FRAMES_MAX)
            h->stack[(*depth)++] = frame_of(h, address, names ? &named : NULL);
        else
            h->deeper++;
    }
}

static void scale(const struct heap_text *h, struct profile_amount *amount)
{
    if (!amount->count || !amount->bytes) {
        *amount = (struct profile_amount){0};
        return;
    }
    if (!h->scaled || h->period <= 1)
        return;
    double factor = 1 / (1 - exp(-((double)amount->bytes / (double)amount->count) / (double)h->period));
    double count = (double)amount->count * factor, bytes = (double)amount->bytes * factor;
    amount->count = count < (double)INT64_MAX ? (uint64_t)count : INT64_MAX;
    amount->bytes = bytes < (double)INT64_MAX ? (uint64_t)bytes : INT64_MAX;
}

static bool read_sample(struct heap_text *h, struct line_span line)
{
    struct profile_row row = {.node = 0};
    size_t depth = 0;
    uint64_t address;
    if (!read_amounts(&row.live, &row.total, &line))
        return false;
    const struct profile_amount *blocks = row.live.count ? &row.live : &row.total;
    row.block_bytes = blocks->count ? blocks->bytes / blocks->count : 0;
    for (span_trim(&line); line.len; span_trim(&line)) {
        if (!span_take(&line, "0x") || !span_number(&address, &line, 16))
            return false;
        push_frames(h, &depth, address);
    }
    row.node = build_stack(&h->build, h->stack, depth);
    scale(h, &row.live);
    scale(h, &row.total);
    profile_add(&h->profile, &row);
    return true;
}

/* ---- the whole ---- */

static bool is_map_mark(const struct line_span *line)
{
    return span_find(line, "--- Memory map: ---") || span_find(line, "MAPPED_LIBRARIES:");
}

/* Modules, and names. */
static void read_places(struct heap_text *h, struct text_lines lines)
{
    struct line_span line;
    bool inside = false;
    while (lines_next(&line, &lines)) {
        if (inside)
            read_map(h, line);
        else
            heap_names_take(&h->names, line);
        inside = inside || is_map_mark(&line);
    }
    if (h->maps.count)
        qsort(h->maps.rows, h->maps.count, sizeof(struct map), by_start);
}

static bool read_all(struct heap_text *h, struct text_lines *lines)
{
    struct line_span line;
    do {
        if (!lines_next(&line, lines)) {
            h->wrong = "there is no line \"heap profile: ...\"";
            return false;
        }
        span_trim(&line);
    } while (!line.len || *line.at == '#');
    if (!read_header(h, line)) {
        h->wrong = "this is no header of a heap profile that is known";
        return false;
    }
    read_places(h, *lines);
    while (lines_next(&line, lines) && !is_map_mark(&line)) {
        span_trim(&line);
        if (!line.len || *line.at == '#' || !*line.at) /* some writers end the text by zero bytes */
            continue;
        if (!read_sample(h, line)) {
            h->wrong = "this is no sample: N: BYTES [N: BYTES] @ 0x...";
            return false;
        }
    }
    return true;
}

static void end(struct heap_text *h)
{
    struct report *report = h->build.report;
    const struct map *maps = h->maps.rows;
    h->profile.has_total = h->has_total;
    h->profile.period_bytes = h->scaled ? h->period : 1;
    if (h->maps.count) {
        report->process.path = maps[0].path;
        report->process.name = report->app.name = path_base(maps[0].path);
    }
    if (h->deeper)
        build_note(&h->build, "%zu frames of stacks deeper than %d frames are left out", h->deeper, FRAMES_MAX);
    if (!h->names.collected_ms)
        build_note(&h->build, "the profile has no time of its own");
    profile_end_memory(&h->profile, h->names.collected_ms);
}

enum decode_outcome heap_text_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                     const char *bytes, size_t len)
{
    struct heap_text *h = arena_alloc(arena, sizeof *h);
    struct text_lines lines = lines_of(bytes, len);
    if (!h)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&h->build, out, arena);
    h->names.build = &h->build;
    profile_begin(&h->profile, &h->build);
    if (read_all(h, &lines)) {
        end(h);
        return build_end(&h->build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
    }
    if (h->build.failed)
        return MIRE_DECODE_NO_MEMORY;
    fault->position = (size_t)(lines.last - lines.begin);
    snprintf(fault->text, sizeof fault->text, "line %zu: %s", lines.number, h->wrong);
    return MIRE_DECODE_MALFORMED;
}
