/*
 * feature.c - the classes of all locations, the path with the most time, the two callers on it, and the key.
 */
#include "feature/feature.h"
#include "feature/callers.h"
#include "feature/category.h"
#include "feature/classes.h"
#include "feature/holder.h"
#include "feature/hot.h"
#include "feature/losses.h"
#include "feature/marks.h"
#include "feature/reason.h"
#include "feature/tree.h"

#include "base/fault.h"

#include <stdio.h>
#include <string.h>

struct finding {
    struct arena *arena;
    struct resolved *doc;
    const struct report *report;
    struct classes classes;
    struct marks marks;
    uint32_t *functions; /* per location */
    struct tree_path path;
    struct way way;         /* the path's locations */
    uint32_t thread;        /* thread of the path; MIRE_TREE_ALL: all threads */
    struct way_found found; /* on the way */
    bool diffuse;           /* app functions have time, and none is to blame */
};

const char *feature_reason(const struct feature *feature)
{
    return feature->topic && feature->topic[0] ? feature->topic : reason_name(feature->reason);
}

/* The role of a location without a rule, in words. */
static const char *explain_role(const struct resolved_location *location)
{
    if (location->role == MIRE_ROLE_APP)
        return "app: no rule passes it over";
    if (location->role == MIRE_ROLE_RUNTIME)
        return "runtime: it calls main";
    return location->image[0] ? "unknown: the module has no known owner; a rule \"own MODULE\" makes it the app's"
                              : "unknown: code outside all modules";
}

void feature_explain(char *out, size_t room, const struct resolved *doc, const struct resolved_location *location)
{
    const struct resolved_rule *rule = location->rule ? &doc->rules[location->rule - 1] : NULL;
    if (rule)
        snprintf(out, room, "line %u of the pack %s %d: %s", rule->line, rule->pack, rule->version, rule->text);
    else
        snprintf(out, room, "%s", explain_role(location));
}

/*
 * How many of the outermost steps the stack of the loop's wait has as well. Direct recursion is one step in both.
 *   locations  of the path
 */
static int find_parting(size_t *out, const struct finding *f, const uint32_t *locations)
{
    size_t depth = 0, parted = 0;
    for (uint32_t node = f->doc->wait_node; node; node = f->doc->nodes[node].parent)
        depth++;
    uint32_t *wait = arena_array(f->arena, depth, sizeof *wait);
    if (!wait)
        return MIRE_FAULT_MEMORY;
    size_t at = depth;
    for (uint32_t node = f->doc->wait_node; node; node = f->doc->nodes[node].parent)
        wait[--at] = f->functions[f->doc->nodes[node].location];
    for (; at < depth && parted < f->path.count && wait[at] == f->functions[locations[parted]]; parted++) {
        uint32_t function = wait[at];
        while (at < depth && wait[at] == function)
            at++;
    }
    *out = parted;
    return 0;
}

/* Time of the stacks whose innermost app function is the one of a step. */
static uint64_t own_time(const struct finding *f, size_t step)
{
    const struct resolved *doc = f->doc;
    uint32_t function = f->functions[f->path.steps[step].location];
    uint64_t sum_ms = 0, own = 0;
    for (size_t i = 0; i < doc->sample_count; i++)
        sum_ms += doc->samples[i].weight_ms;
    for (size_t i = 0; i < doc->sample_count; i++) {
        uint32_t node = doc->samples[i].node;
        if ((f->marks.left_out && f->marks.left_out[i]) ||
            (f->thread != MIRE_TREE_ALL && doc->samples[i].thread != f->thread))
            continue;
        while (node && class_is_skipped(f->classes.of[doc->nodes[node].location]))
            node = doc->nodes[node].parent;
        if (node && f->functions[doc->nodes[node].location] == function)
            own += sum_ms ? doc->samples[i].weight_ms : 1;
    }
    return own;
}

/* main has all of a program's time, so it is blamed only for its own. */
static bool is_spread_below_main(const struct finding *f)
{
    return f->found.kind == WAY_APP && f->doc->sample_count && way_is_main(&f->way, f->found.step) &&
           own_time(f, f->found.step) * 100 < (f->path.total + f->path.without) * MIRE_FEATURE_LEAST;
}

static int walk(struct finding *f, uint32_t thread)
{
    const struct tree_walk how = {f->functions, MIRE_FEATURE_SHARE, MIRE_FEATURE_LEAST, thread, f->marks.left_out};
    f->thread = thread;
    int rc = tree_path(&f->path, f->arena, f->doc, &how);
    if (f->path.without * 100 > (f->path.total + f->path.without) * MIRE_LOSSES_LIMIT)
        f->path.count = f->path.total = 0;
    uint32_t *locations = rc ? NULL : arena_array(f->arena, f->path.count, sizeof *locations);
    if (!locations)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < f->path.count; i++)
        locations[i] = f->path.steps[i].location;
    f->way = (struct way){f->doc, f->classes.of, f->classes.names, locations, f->path.count, 0};
    rc = find_parting(&f->way.parted, f, locations);
    if (rc)
        return rc;
    f->found = way_caller1(&f->way);
    f->diffuse = is_spread_below_main(f) && !way_unknown_inside(&f->found, &f->way, f->found.step);
    if (f->marks.most == MIRE_CLASS_MOMENT && f->found.kind == WAY_APP)
        f->found = way_moment(&f->way, f->found.step);
    return 0;
}

/* The path in everybody's tree; if that leads to nobody, in the tree of the thread with most time. */
static int find_path(struct finding *f)
{
    uint32_t heaviest = tree_heaviest_thread(f->doc);
    bool many = false;
    int rc = walk(f, MIRE_TREE_ALL);
    for (size_t i = 0; i < f->doc->sample_count; i++)
        many |= f->doc->samples[i].thread != heaviest;
    return rc || !many || (f->found.kind == WAY_APP && !f->diffuse) ? rc : walk(f, heaviest);
}

/* Does any counted stack have a function that may be to blame? */
static bool has_app(const struct finding *f)
{
    const struct resolved *doc = f->doc;
    for (size_t i = 0; i < doc->sample_count; i++) {
        if (f->marks.left_out && f->marks.left_out[i])
            continue;
        if (way_has_app(doc, f->classes.of, doc->samples[i].node))
            return true;
    }
    return !doc->sample_count && way_has_app(doc, f->classes.of, doc->hot.node);
}

/* "writer", the thread of the path. */
static const char *thread_name(const struct finding *f)
{
    const char *name = f->thread ? f->doc->threads[f->thread - 1].name : f->doc->thread.name;
    return name[0] ? name : "without a name";
}

/* "main holds 60 % of the sampled time of thread writer"; without a function to blame, the share of the largest one. */
static const char *count_share(struct finding *f, const struct feature *out, uint64_t all)
{
    const char *of = f->thread == MIRE_TREE_ALL ? "" : " of thread ";
    const char *thread = f->thread == MIRE_TREE_ALL ? "" : thread_name(f);
    uint64_t held = f->path.count ? f->path.steps[f->found.step].weight : 0;
    const struct resolved_location *next = &f->doc->locations[f->path.next.location];
    if (f->diffuse && f->path.next.weight)
        return arena_printf(f->arena, "nobody holds most of the sampled time%s%s: %s holds %u %%, the others less", of,
                            thread, next->function, (unsigned)(f->path.next.weight * 100 / all));
    if (f->diffuse)
        return arena_printf(f->arena, "nobody holds most of the sampled time%s%s", of, thread);
    return arena_printf(f->arena, "%s holds %u %% of the sampled time%s%s", out->caller1.function,
                        (unsigned)(held * 100 / all), of, thread);
}

/* The explanation of Caller1, and the verdict in the document. */
static int explain(struct feature *out, struct finding *f)
{
    uint64_t all = f->path.all ? f->path.all : 1;
    const struct report_event *event = category_is_of_process(out->category) ? NULL : &f->report->event;
    const char *losses;
    int rc = losses_text(&losses, f->arena, f->doc, f->thread, f->marks.left_out, event);
    if (rc)
        return rc;
    if (f->path.count && !f->diffuse) {
        const struct tree_step *step = &f->path.steps[f->found.step];
        f->doc->verdict = (struct resolved_verdict){true, step->location, (uint32_t)(step->weight * 1000000 / all)};
    }
    if (f->path.count || f->path.total) {
        const char *share = count_share(f, out, all);
        out->why =
            share ? arena_printf(f->arena, "%s (%s)%s%s", share, f->found.how, losses[0] ? "; " : "", losses) : NULL;
    } else {
        out->why = losses[0] ? losses : "no stack was taken";
    }
    f->doc->why = out->why ? out->why : "";
    return out->why ? 0 : MIRE_FAULT_MEMORY;
}

/* The path has no function to blame: is the time spread over many functions, or is there none at all? */
static int judge_path(struct feature *out, struct finding *f)
{
    if (!f->diffuse && (f->found.kind == WAY_APP || f->found.kind == WAY_UNKNOWN || !f->path.total))
        return 0;
    if (f->diffuse || has_app(f)) {
        const struct name *name = f->path.count ? out->caller1.name : NULL;
        f->diffuse = true;
        f->found.how = "app functions have time, none of them most of it";
        out->caller1.function = arena_printf(f->arena, "diffuse at %s", name ? name->key : "the thread's entry");
        out->caller1.name = NULL;
        return out->caller1.function ? 0 : MIRE_FAULT_MEMORY;
    }
    if (category_may_be_nobodys(out->category))
        out->category = MIRE_CATEGORY_SYSTEM;
    return 0;
}

/*
 * The scene of a hang without stacks: "thread pool-#-thread-# (the thread blocked every signal)". Numbered threads have
 * one name.
 */
static int find_thread(struct caller *out, struct finding *f)
{
    const char *why = losses_lasting(f->doc, f->thread);
    char *name = arena_strdup(f->arena, f->doc->thread.name);
    size_t to = 0;
    if (!name || !(name[0] || why[0]))
        return name ? 0 : MIRE_FAULT_MEMORY;
    for (const char *at = name; *at;) {
        size_t digits = strspn(at, "0123456789");
        name[to++] = digits ? '#' : *at;
        at += digits ? digits : 1;
    }
    name[to] = '\0';
    out->function = arena_printf(f->arena, "thread %s%s%s%s", to ? name : "without a name", why[0] ? " (" : "", why,
                                 why[0] ? ")" : "");
    return out->function ? 0 : MIRE_FAULT_MEMORY;
}

static int find_callers(struct feature *out, struct finding *f)
{
    size_t one = f->found.step;
    size_t two = 0;
    if (f->path.count) {
        two = way_caller2(&f->way, one);
        const uint32_t *functions = f->functions;
        f->doc->hot.caller1 = hot_frame(f->doc, functions, functions[f->path.steps[one].location], false);
        f->doc->hot.caller2 = hot_frame(f->doc, functions, functions[f->path.steps[two].location], true);
    }
    out->tree = way_tree(&f->way, one);
    out->stack = f->doc->hot.node;
    out->stack_caller1 = f->doc->hot.caller1;
    int rc = way_caller(&out->caller1, f->arena, &f->way, one);
    if (!rc)
        rc = way_caller(&out->caller2, f->arena, &f->way, two);
    if (!rc && !f->path.count && !category_is_of_process(out->category))
        rc = find_thread(&out->caller2, f);
    if (!rc)
        rc = judge_path(out, f);
    out->joins = f->found.kind == WAY_APP && out->caller1.name && !way_is_scene(&f->way, two);
    if (f->marks.most == MIRE_CLASS_TRUNCATED)
        out->caller2 = (struct caller){.function = "(truncated)", .image = "", .location = ""};
    if (category_is_of_process(out->category) && f->report->event.name[0] && !out->topic[0]) {
        out->caller2 = (struct caller){.function = f->report->event.name, .image = "", .location = ""};
        out->joins = false;
    }
    return rc ? rc : explain(out, f);
}

/* Did the device see the thread asleep most of the time, without knowing whether its loop waited? */
static bool is_unsure(const struct report *report)
{
    const struct report_event *event = &report->event;
    return event->unsure_ms && event->unsure_ms >= event->duration_ms / 2;
}

/* The reason that the kind implies; otherwise the reason from the samples. */
static enum event_reason find_reason(enum event_category category, const struct finding *f)
{
    if (f->marks.most == MIRE_CLASS_IDLE || is_unsure(f->report))
        return MIRE_REASON_IDLE;
    switch (category) {
    case MIRE_CATEGORY_CPU:
    case MIRE_CATEGORY_POWER:
    case MIRE_CATEGORY_THREADS:
        return MIRE_REASON_CPU;
    case MIRE_CATEGORY_DISK:
        return MIRE_REASON_IO;
    default:
        return reason_find(f->doc, f->report, f->classes.of);
    }
}

/* Stacks that wait for events, may do so, or say nothing, are nobody's. */
static void judge_marks(struct feature *out, struct finding *f)
{
    if (!category_may_be_nobodys(out->category))
        return;
    if (is_unsure(f->report))
        f->found.how = "asleep, and it is unknown whether its loop waited";
    if (f->marks.most == MIRE_CLASS_IDLE || is_unsure(f->report))
        out->category = MIRE_CATEGORY_IDLE;
    else if (f->marks.most == MIRE_CLASS_MEANINGLESS)
        out->category = MIRE_CATEGORY_SYSTEM;
}

/* The name of a crash or an exception is its type: the reason. */
static bool names_its_reason(const struct report *report)
{
    const char *trigger = report->event.trigger;
    return report->kind == MIRE_REPORT_EVENT && (!strcmp(trigger, "exception") || !strcmp(trigger, "crash"));
}

int feature_find(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules, struct rules_seen *seen)
{
    struct finding f = {.arena = arena, .doc = doc, .report = report};
    *out = (struct feature){.category = category_find(report),
                            .topic = names_its_reason(report) ? report->event.name : "",
                            .subject = "",
                            .holder = "",
                            .rules_version = rules_version(rules)};
    int rc = classes_find(&f.classes, arena, doc, report, rules, seen);
    if (!rc)
        rc = tree_functions(&f.functions, arena, doc, f.classes.names);
    if (!rc)
        rc = hot_find(doc, arena, f.functions);
    if (!rc)
        rc = marks_find(&f.marks, arena, doc, &f.classes, MIRE_FEATURE_SHARE);
    if (!rc)
        rc = find_path(&f);
    if (rc)
        return rc;
    enum event_category given = out->category;
    judge_marks(out, &f);
    rc = find_callers(out, &f);
    if (rc)
        return rc;
    out->reason = find_reason(given, &f);
    if (out->reason == MIRE_REASON_LOCK || out->reason == MIRE_REASON_WAIT)
        rc = holder_find(&out->holder, arena, doc, f.classes.of);
    return rc ? rc : feature_seal(out, arena, doc);
}
