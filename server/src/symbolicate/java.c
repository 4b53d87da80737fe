/*
 * java.c - locations of Java frames: retraced by the mapping; without it, unchanged.
 *
 * A method that the compiler generated has no location: its node becomes its caller's.
 *
 * Code that R8 moved out of several methods, an outline, has a separate frame, which is in no source file. The frame's
 * line selects a location in the caller. The node of the outline becomes that location, beside the caller's own, with
 * the calls that were inlined into the outline below:
 *
 *     wire trie                  resolved trie
 *     n1 caller, line 7   -->    m1 caller at the location of line 7
 *     n2 outline, line 2         m2 caller at the location of position 2    (beside m1)
 */
#include "symbolicate/inside.h"

#include "base/fault.h"

#include <string.h>

static const struct report_java *row_of(const struct symbolicate_job *job, uint32_t frame)
{
    return &job->report->java[job->report->frames[frame].offset];
}

/* Is it a compiler's placeholder for the name of a source file (SourceFile, r8-map-id-..., nothing)? */
static bool is_source(const char *file)
{
    static const char *const endings[] = {".java", ".kt", ".kts", ".scala", ".groovy", ".clj"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

/* Add the frame unchanged. Without the mapping the name may mean another function in another build. */
static int add_raw(struct symbolicate_job *job, struct java_image *java, const struct report_java *row)
{
    const struct report_image *image = &job->report->images[java->image];
    bool methods = java->retrace && retrace_is_methods(java->retrace);
    bool given = image->id_len && !image->by_version;
    bool whole = java->retrace && retrace_is_whole(java->retrace);
    bool missing = row->number >= 0 ? !methods : !whole && (given || !is_source(row->file));
    struct resolved_location *location = symbolicate_add(job);
    if (!location)
        return MIRE_FAULT_MEMORY;
    *location = (struct resolved_location){
        .function = report_java_name(job->arena, row),
        .image = java->where.name,
        .file = is_source(row->file) ? row->file : "",
        .line = row->line,
        .named = row->number < 0,
        .build = missing && image->id_len ? java->where.build : NULL,
    };
    java->missing |= missing && image->id_len;
    job->unresolved += missing;
    return location->function ? 0 : MIRE_FAULT_MEMORY;
}

static bool same_method(const struct retrace_frame *a, const struct retrace_frame *b)
{
    return a->method_len == b->method_len && !memcmp(a->method, b->method, a->method_len) &&
           a->class_len == b->class_len && !memcmp(a->class_name, b->class_name, a->class_len);
}

/*
 * A frame may have several candidates. Then the calls of one level are one location: Main.draw or Main.measure. The
 * outermost calls are one level, the calls inside them the next.
 */
struct level {
    const struct retrace_frame *frames[MIRE_RETRACE_CHAIN]; /* distinct methods */
    size_t count;
    uint32_t line; /* 0: they differ */
};

static void gather(struct level *out, const struct retrace_answer *answer, size_t level)
{
    size_t end;
    *out = (struct level){.count = 0};
    for (size_t first = 0; first < answer->count; first = end) {
        for (end = first; end < answer->count && answer->frames[end].choice == answer->frames[first].choice;)
            end++;
        if (level >= end - first)
            continue;
        const struct retrace_frame *frame = &answer->frames[end - 1 - level];
        bool known = false;
        for (size_t i = 0; i < out->count; i++)
            known |= same_method(out->frames[i], frame);
        out->line = !out->count || out->line == frame->line ? frame->line : 0;
        if (!known)
            out->frames[out->count++] = frame;
    }
}

static const char *join(struct symbolicate_job *job, const struct level *level)
{
    const char *name = "";
    for (size_t i = 0; name && i < level->count && strlen(name) < MIRE_PLACE_NAME; i++)
        name = arena_printf(job->arena, "%s%s%.*s.%.*s", name, i ? " or " : "", (int)level->frames[i]->class_len,
                            level->frames[i]->class_name, (int)level->frames[i]->method_len, level->frames[i]->method);
    return name;
}

/* Add the retraced frames after the locations that the chain has already. */
static int add_retraced(struct chain *chain, struct symbolicate_job *job, const struct java_image *java,
                        const struct retrace_answer *answer)
{
    struct level levels[MIRE_RETRACE_CHAIN];
    size_t count = 0;
    for (gather(&levels[0], answer, 0); levels[count].count && ++count < MIRE_RETRACE_CHAIN;)
        gather(&levels[count], answer, count);
    if (!chain->count)
        chain->first = (uint32_t)job->location_count;
    for (size_t i = count; i-- > 0;) {
        struct resolved_location *location = symbolicate_add(job);
        if (!location)
            return MIRE_FAULT_MEMORY;
        *location = (struct resolved_location){
            .function = join(job, &levels[i]),
            .image = java->where.name,
            .file = arena_strdup(job->arena, levels[i].frames[0]->file),
            .line = levels[i].line,
            .named = true,
            .inlined = i > 0,
        };
        if (!location->function || !location->file)
            return MIRE_FAULT_MEMORY;
        chain->count++;
    }
    return 0;
}

static void look_up(struct retrace_answer *out, struct retrace_carry *carry, const struct java_image *java,
                    const struct report_java *row)
{
    out->count = 0;
    out->left_out = false;
    if (!java->retrace)
        return;
    if (row->number >= 0)
        out->count = retrace_method(out->frames, java->retrace, (uint64_t)row->number);
    else
        retrace_frame(out, carry, java->retrace,
                      &(struct retrace_query){row->class_name, row->method, row->file, row->line});
}

/* Resolve one frame. *outline_out: it is an outline. */
static int resolve(bool *outline_out, struct symbolicate_job *job, struct java_image *java, uint32_t frame)
{
    struct retrace_answer answer;
    struct retrace_carry carry = {0};
    struct chain *chain = &job->chains[frame];
    const struct report_java *row = row_of(job, frame);
    look_up(&answer, &carry, java, row);
    *outline_out = carry.position != 0;
    *chain = (struct chain){(uint32_t)job->location_count, 0};
    if (answer.count)
        return add_retraced(chain, job, java, &answer);
    if (answer.left_out)
        return 0;
    chain->count = 1;
    return add_raw(job, java, row);
}

/* Replace the node of an outline by its caller, or its caller's caller, at the location before the move. */
static int resolve_outline(struct symbolicate_job *job, const struct java_image *java, uint32_t node)
{
    const struct report *report = job->report;
    struct retrace_answer answer;
    struct retrace_carry carry = {0};
    struct outlined *outlined = &job->outlined[node];
    uint32_t at = node;
    int rc = 0;
    *outlined = (struct outlined){.known = true, .under = report->nodes[node].parent};
    do {
        look_up(&answer, &carry, java, row_of(job, report->nodes[at].frame));
        if (!answer.count && !answer.left_out)
            return 0; /* the mapping does not have the caller: the node stays */
        if (answer.count)
            rc = add_retraced(&outlined->chain, job, java, &answer);
        at = report->nodes[at].parent;
        outlined->under = at;
    } while (!rc && carry.position && at && report->frames[report->nodes[at].frame].image == java->image);
    return rc;
}

int symbolicate_java(struct symbolicate_job *job, struct java_image *java)
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
