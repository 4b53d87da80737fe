/*
 * java.c - places of Java: by the mapping, else as they came.
 *
 * Code that R8 moved out of several methods (an outline) has a frame of its own, which no source knows. Its line tells
 * which place in its caller it stands for, so its node becomes that place, beside the caller's own:
 *
 *     wire trie                  resolved trie
 *     n1 caller, line 7   -->    m1 caller at what line 7 says
 *     n2 outline, line 2         m2 caller at what position 2 says    (beside m1)
 */
#include "symbolicate/inside.h"

#include "base/fault.h"

#include <string.h>

static const struct report_java *row_of(const struct job *job, uint32_t frame)
{
    return &job->report->java[job->report->frames[frame].offset];
}

/* Is it what compilers write, or what is left of it where names are shortened (SourceFile, r8-map-id-..., nothing)? */
static bool is_source(const char *file)
{
    static const char *const endings[] = {".java", ".kt", ".kts", ".scala", ".groovy", ".clj"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

/* As it came. Without its mapping the name may be another function's in another build. */
static int add_raw(struct job *job, struct java_image *java, const struct report_java *row)
{
    const struct report_image *image = &job->report->images[java->image];
    bool methods = java->retrace && retrace_is_methods(java->retrace);
    bool told = image->id_len && !image->by_version;
    bool whole = java->retrace && retrace_is_whole(java->retrace);
    bool lacks = row->number >= 0 ? !methods : !whole && (told || !is_source(row->file));
    struct resolved_place *place = symbolicate_add(job);
    if (!place)
        return MIRE_FAULT_MEMORY;
    *place = (struct resolved_place){
        .function = report_java_name(job->arena, row),
        .image = java->where.name,
        .file = is_source(row->file) ? row->file : "",
        .line = row->line,
        .named = row->number < 0,
        .build = lacks && image->id_len ? java->where.build : NULL,
    };
    java->lacks |= lacks && image->id_len;
    job->unresolved += lacks;
    return place->function ? 0 : MIRE_FAULT_MEMORY;
}

/* Names that share a short one: Main.draw or Main.measure. */
static const char *join(struct job *job, const struct retrace_frame *frames, size_t count)
{
    const char *name = arena_printf(job->arena, "%.*s.%.*s", (int)frames[0].class_len, frames[0].class_name,
                                    (int)frames[0].method_len, frames[0].method);
    for (size_t i = 1; name && frames[0].ambiguous && i < count && strlen(name) < MIRE_PLACE_NAME; i++)
        name = arena_printf(job->arena, "%s or %.*s.%.*s", name, (int)frames[i].class_len, frames[i].class_name,
                            (int)frames[i].method_len, frames[i].method);
    return name;
}

/* As the mapping says; methods that it cannot tell apart are one place. */
static int add_retraced(struct chain *chain, struct job *job, const struct java_image *java,
                        const struct retrace_frame *frames, size_t count)
{
    chain->first = (uint32_t)job->place_count;
    chain->count = frames[0].ambiguous ? 1 : (uint32_t)count;
    for (size_t i = 0; i < chain->count; i++) {
        struct resolved_place *place = symbolicate_add(job);
        if (!place)
            return MIRE_FAULT_MEMORY;
        *place = (struct resolved_place){
            .function = join(job, &frames[i], frames[i].ambiguous ? count : 1),
            .image = java->where.name,
            .file = arena_strdup(job->arena, frames[i].file),
            .line = frames[i].line,
            .named = true,
            .inlined = frames[i].inlined,
        };
        if (!place->function || !place->file)
            return MIRE_FAULT_MEMORY;
    }
    return 0;
}

static size_t look_up(struct retrace_frame *out, struct retrace_carry *carry, const struct java_image *java,
                      const struct report_java *row)
{
    if (!java->retrace)
        return 0;
    if (row->number >= 0)
        return retrace_method(out, java->retrace, (uint64_t)row->number);
    return retrace_frame(out, carry, java->retrace, row->class_name, row->method, row->line);
}

/* One frame. *outline_out: it is code that was moved out of others, and has no place of its own. */
static int resolve(bool *outline_out, struct job *job, struct java_image *java, uint32_t frame)
{
    struct retrace_frame frames[MIRE_RETRACE_CHAIN];
    struct retrace_carry carry = {0};
    struct chain *chain = &job->chains[frame];
    const struct report_java *row = row_of(job, frame);
    size_t count = look_up(frames, &carry, java, row);
    *outline_out = carry.position != 0;
    if (count)
        return add_retraced(chain, job, java, frames, count);
    *chain = (struct chain){(uint32_t)job->place_count, !carry.position};
    return carry.position ? 0 : add_raw(job, java, row);
}

/* What the node of an outline stands for: its caller, or that one's, at the place it was moved out of. */
static int resolve_outline(struct job *job, const struct java_image *java, uint32_t node)
{
    const struct report *report = job->report;
    struct retrace_frame frames[MIRE_RETRACE_CHAIN];
    struct retrace_carry carry = {0};
    struct outlined *outlined = &job->outlined[node];
    uint32_t up = report->nodes[node].parent;
    (void)look_up(frames, &carry, java, row_of(job, report->nodes[node].frame));
    *outlined = (struct outlined){.known = true, .under = up};
    for (; up && report->frames[report->nodes[up].frame].image == java->image; up = report->nodes[up].parent) {
        size_t count = look_up(frames, &carry, java, row_of(job, report->nodes[up].frame));
        outlined->under = report->nodes[up].parent;
        if (count)
            return add_retraced(&outlined->chain, job, java, frames, count);
        if (!carry.position) { /* the mapping does not have the caller: it stays as it is */
            outlined->under = up;
            return 0;
        }
    }
    return 0;
}

int symbolicate_java(struct job *job, struct java_image *java)
{
    const struct report *report = job->report;
    uint8_t *is_outline = arena_array(job->arena, report->frame_count, sizeof *is_outline);
    bool any = false;
    int rc = is_outline ? 0 : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < java->count && !rc; i++) {
        bool outline = false;
        rc = resolve(&outline, job, java, java->order[i]);
        is_outline[java->order[i]] = outline;
        any |= outline;
    }
    if (any && !rc && !job->outlined) {
        job->outlined = arena_array(job->arena, report->node_count, sizeof *job->outlined);
        rc = job->outlined ? 0 : MIRE_FAULT_MEMORY;
    }
    for (uint32_t n = 1; any && !rc && n < report->node_count; n++)
        if (is_outline[report->nodes[n].frame])
            rc = resolve_outline(job, java, n);
    return rc;
}
