/*
 * profile.c - see profile.h. profile.proto: github.com/google/pprof, proto/profile.proto. The encoding of protocol
 * buffers as far as needed: numbers as varints, texts and messages with their length before them.
 */
#include "cli/profile.h"

#include "base/path.h"
#include "base/protobuf.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Fields of profile.proto. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING };
enum { PROFILE_TIME_NANOS = 9, PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD = 12, PROFILE_DEFAULT_TYPE = 14 };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_OFFSET,
    MAPPING_FILE,
    MAPPING_BUILD_ID,
    MAPPING_FUNCTIONS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* The frame of memory without a stack: freed memory, and live memory of stacks that were not reported. */
#define NOWHERE "(stack not kept)"

struct amount {
    uint64_t objects, bytes;
};

struct stack_amounts { /* by the stacks of a category */
    struct amount live, ever;
};

struct profile {
    const struct cli_document *document;
    bool totals; /* samples also have the bytes ever allocated */
    struct text body;
    struct text strings; /* the string table's fields, in order */
    uint64_t string_count;
};

/* Each text becomes a row; a reader merges equal ones. */
static uint64_t string_of(struct profile *profile, const char *string)
{
    protobuf_bytes(&profile->strings, PROFILE_STRING, string, strlen(string));
    return profile->string_count++;
}

/* ---- the profile ---- */

static void add_value_type(struct profile *profile, unsigned field, const char *type, const char *unit)
{
    struct text message = {0};
    protobuf_number(&message, VALUE_TYPE, string_of(profile, type));
    protobuf_number(&message, VALUE_UNIT, string_of(profile, unit));
    protobuf_message(&profile->body, field, &message);
    text_fini(&message);
}

static void add_mappings(struct profile *profile)
{
    const struct report *report = &profile->document->report;
    struct text message = {0};

    for (size_t i = 0; i < report->image_count; i++) {
        const struct report_image *image = &report->images[i];
        char id[2 * MIRE_BUILD_ID_MAX + 1] = "";
        for (size_t k = 0; k < image->id_len; k++)
            snprintf(id + 2 * k, 3, "%02x", image->id[k]);
        protobuf_number(&message, MAPPING_ID, i + 1);
        protobuf_number(&message, MAPPING_START, image->load + image->base);
        protobuf_number(&message, MAPPING_LIMIT, image->load + image->base + image->size.value);
        protobuf_number(&message, MAPPING_FILE, string_of(profile, image->name));
        protobuf_number(&message, MAPPING_BUILD_ID, string_of(profile, id));
        protobuf_number(&message, MAPPING_FUNCTIONS, 1);
        protobuf_message(&profile->body, PROFILE_MAPPING, &message);
    }

    text_fini(&message);
}

/* Number of a location's mapping, by the base name of the image; 0 if there is none. */
static size_t mapping_of(const struct report *report, const struct resolved_location *location)
{
    for (size_t i = 0; location->image[0] && i < report->image_count; i++)
        if (!strcmp(path_base(report->images[i].name), location->image))
            return i + 1;
    return 0;
}

/* Each location becomes one of pprof's, with one line and one function; their numbers are its own and one. */
static void add_place(struct profile *profile, size_t number, const struct resolved_location *location)
{
    const struct report *report = &profile->document->report;
    size_t mapping = mapping_of(report, location);
    struct text message = {0}, line = {0};
    uint64_t name = string_of(profile, location->function);

    protobuf_number(&message, FUNCTION_ID, number + 1);
    protobuf_number(&message, FUNCTION_NAME, name);
    protobuf_number(&message, FUNCTION_SYSTEM_NAME, name);
    protobuf_number(&message, FUNCTION_FILE, string_of(profile, location->file));
    protobuf_message(&profile->body, PROFILE_FUNCTION, &message);
    protobuf_number(&message, LOCATION_ID, number + 1);
    protobuf_number(&message, LOCATION_MAPPING, mapping);
    protobuf_number(&message, LOCATION_ADDRESS, location->offset + (mapping ? report->images[mapping - 1].load : 0));
    protobuf_number(&line, LINE_FUNCTION, number + 1);
    protobuf_number(&line, LINE_LINE, location->line);
    protobuf_message(&message, LOCATION_LINE, &line);
    protobuf_message(&profile->body, PROFILE_LOCATION, &message);
    text_fini(&message);
    text_fini(&line);
}

/* locations: numbers of locations, packed. */
static void add_sample(struct profile *profile, struct text *locations, const char *category, struct amount ever,
                       struct amount live)
{
    struct text message = {0}, packed = {0};

    protobuf_message(&message, SAMPLE_LOCATION, locations);
    if (profile->totals) {
        protobuf_varint(&packed, ever.objects);
        protobuf_varint(&packed, ever.bytes);
    }
    protobuf_varint(&packed, live.objects);
    protobuf_varint(&packed, live.bytes);
    protobuf_message(&message, SAMPLE_VALUE, &packed);
    protobuf_number(&packed, LABEL_KEY, string_of(profile, "category"));
    protobuf_number(&packed, LABEL_TEXT, string_of(profile, category));
    protobuf_message(&message, SAMPLE_LABEL, &packed);
    protobuf_message(&profile->body, PROFILE_SAMPLE, &message);
    text_fini(&message);
    text_fini(&packed);
}

static uint64_t beyond(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* A foreign profile has the bytes ever allocated by stack. */
static bool has_totals(const struct memory *memory)
{
    return memory->stack_count > 0 && memory->stacks[0].total_bytes.known;
}

/*
 * The bytes ever allocated on a stack. Mire's own reports have them by category only; there the live blocks count, and
 * a block counts in the category of its size, whatever its later class.
 */
static struct amount ever_of(const struct memory_category *category, const struct memory_stack *stack)
{
    if (stack->total_bytes.known)
        return (struct amount){stack->total_count.value, stack->total_bytes.value};
    return category->kind == MIRE_MEMORY_HEAP ? (struct amount){stack->count, memory_stack_held(category, stack)}
                                              : (struct amount){0};
}

static void add_stacks(struct profile *profile)
{
    const struct resolved *doc = &profile->document->doc;
    struct text locations = {0};

    for (size_t i = 0; i < doc->memory.stack_count; i++) {
        const struct memory_stack *stack = &doc->memory.stacks[i];
        const struct memory_category *category = &doc->memory.categories[stack->category];
        struct amount live = {stack->count, memory_stack_held(category, stack)};
        for (uint32_t node = stack->node; node; node = doc->nodes[node].parent)
            protobuf_varint(&locations, (uint64_t)doc->nodes[node].location + 1);
        add_sample(profile, &locations, category->name, ever_of(category, stack), live);
    }
    text_fini(&locations);
}

/* The bytes of a category, live and freed, without a reported stack. Not of mappings: those of allocators contain the
 * blocks. */
static void add_rest(struct profile *profile, const struct memory_category *category, const struct stack_amounts *given)
{
    bool whole = has_totals(&profile->document->doc.memory);
    const struct amount *known = whole ? &given->ever : &given->live;
    struct amount live = {beyond(category->live_count, given->live.objects),
                          beyond(category->live_bytes, given->live.bytes)};
    struct amount ever = {beyond(category->total_count.value, known->objects),
                          beyond(category->total_bytes.value, known->bytes)};
    struct text locations = {0};

    if ((category->kind != MIRE_MEMORY_HEAP && !whole) || !profile->totals)
        ever = (struct amount){0};
    protobuf_varint(&locations, profile->document->doc.location_count + 1);
    if (category->kind != MIRE_MEMORY_VM && (live.objects > 0 || ever.objects > 0))
        add_sample(profile, &locations, category->name, ever, live);
    text_fini(&locations);
}

static void add_rests(struct profile *profile)
{
    const struct memory *memory = &profile->document->doc.memory;

    MIRE_SCOPED(free_memory) struct stack_amounts *given = calloc(memory->category_count + 1, sizeof(*given));
    profile->body.failed = profile->body.failed || !given;
    for (size_t i = 0; given && i < memory->stack_count; i++) {
        struct stack_amounts *of = &given[memory->stacks[i].category];
        of->live.objects += memory->stacks[i].count;
        of->live.bytes += memory->stacks[i].bytes;
        of->ever.objects += memory->stacks[i].total_count.value;
        of->ever.bytes += memory->stacks[i].total_bytes.value;
    }
    for (size_t i = 0; given && i < memory->category_count; i++)
        add_rest(profile, &memory->categories[i], &given[i]);
}

static void add_profile(struct profile *profile)
{
    static const struct resolved_location nowhere = {.function = NOWHERE, .file = "", .image = ""};
    const struct memory *memory = &profile->document->doc.memory;

    string_of(profile, ""); /* the first is the empty one */
    profile->totals = (!memory->sampled || has_totals(memory)) && memory->category_count > 0 &&
                      memory->categories[0].total_count.known;
    if (profile->totals) {
        add_value_type(profile, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
        add_value_type(profile, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
    }
    add_value_type(profile, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
    add_value_type(profile, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
    add_mappings(profile);
    for (size_t i = 0; i < profile->document->doc.location_count; i++)
        add_place(profile, i, &profile->document->doc.locations[i]);
    add_place(profile, profile->document->doc.location_count, &nowhere);
    add_stacks(profile);
    add_rests(profile);
    add_value_type(profile, PROFILE_PERIOD_TYPE, "space", "bytes");
    protobuf_number(&profile->body, PROFILE_PERIOD, memory->sampled ? memory->interval_bytes.value : 1);
    protobuf_number(&profile->body, PROFILE_TIME_NANOS, memory->taken_wall_ms.value * 1000000);
    protobuf_number(&profile->body, PROFILE_DEFAULT_TYPE, string_of(profile, "inuse_space"));
    text_append(&profile->body, profile->strings.bytes, profile->strings.len);
    profile->body.failed = profile->body.failed || profile->strings.failed;
}

static void add_gzip(struct text *out, const struct text *body)
{
    z_stream stream = {.next_in = (Bytef *)body->bytes, .avail_in = (uInt)body->len};
    if (body->failed || body->len > UINT32_MAX ||
        deflateInit2(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY)) {
        out->failed = true;
        return;
    }
    uLong bound = deflateBound(&stream, body->len);
    MIRE_SCOPED(free_memory) char *packed = malloc(bound);
    stream.next_out = (Bytef *)packed;
    stream.avail_out = packed ? (uInt)bound : 0;
    if (!packed || deflate(&stream, Z_FINISH) != Z_STREAM_END)
        out->failed = true;
    else
        text_append(out, packed, stream.total_out);
    deflateEnd(&stream);
}

void profile_pprof(struct text *out, const struct cli_document *document)
{
    struct profile profile = {.document = document};
    add_profile(&profile);
    add_gzip(out, &profile.body);
    text_fini(&profile.body);
    text_fini(&profile.strings);
}

/* ---- collapsed stacks ---- */

/* Separators of the format are replaced in names. */
static void add_name(struct text *out, const char *name)
{
    for (; *name; name++)
        text_append(out, *name == ';' || *name == '\n' ? ":" : name, 1);
}

static void add_outermost_first(struct text *out, const struct resolved *doc, uint32_t leaf)
{
    size_t depth = 0;

    for (uint32_t node = leaf; node; node = doc->nodes[node].parent)
        depth++;
    for (size_t left = depth; left > 0; left--) {
        uint32_t node = leaf;
        for (size_t up = 1; up < left; up++)
            node = doc->nodes[node].parent;
        add_name(out, doc->locations[doc->nodes[node].location].function);
        text_add(out, left > 1 ? ";" : "");
    }
}

void profile_collapsed(struct text *out, const struct cli_document *document)
{
    const struct resolved *doc = &document->doc;

    for (size_t i = 0; i < doc->memory.stack_count; i++) {
        const struct memory_stack *stack = &doc->memory.stacks[i];
        if (stack->node)
            add_outermost_first(out, doc, stack->node);
        else
            text_add(out, "(unknown)");
        text_printf(out, " %llu\n",
                    (unsigned long long)memory_stack_held(&doc->memory.categories[stack->category], stack));
    }
}
