/*
 * feature.c - classes of all places, the path that holds the time, the two callers on it, and the key.
 */
#include "feature/feature.h"
#include "feature/callers.h"
#include "feature/category.h"
#include "feature/classes.h"
#include "feature/holder.h"
#include "feature/hot.h"
#include "feature/reason.h"
#include "feature/tree.h"

#include "base/fault.h"

struct finding {
    struct arena *arena;
    struct resolved *doc;
    const struct report *report;
    enum rule_class *classes; /* per place */
    uint32_t *functions;      /* per place */
    struct tree_path path;
    struct way way;  /* the path's places */
    uint32_t thread; /* whose path, MIRE_TREE_ALL: everybody's */
};

const char *reason_name(enum hang_reason reason)
{
    static const char *const names[] = {"unknown", "cpu", "io", "lock", "sleep", "wait", "bytes", "objects", "growth"};
    return names[reason];
}

static bool has_app(const struct finding *f)
{
    for (size_t i = 0; i < f->path.count; i++)
        if (f->classes[f->path.steps[i].place] == MIRE_CLASS_APP)
            return true;
    return false;
}

/* The path in everybody's tree; if that leads to nobody, in the tree of the thread with most time. */
static int find_path(struct finding *f)
{
    uint32_t heaviest = tree_heaviest_thread(f->doc);
    bool many = false;
    f->thread = MIRE_TREE_ALL;
    int rc = tree_path(&f->path, f->arena, f->doc, f->functions, MIRE_FEATURE_SHARE, MIRE_TREE_ALL);
    for (size_t i = 0; i < f->doc->sample_count; i++)
        many |= f->doc->samples[i].thread != heaviest;
    if (rc || !many || has_app(f))
        return rc;
    f->thread = heaviest;
    return tree_path(&f->path, f->arena, f->doc, f->functions, MIRE_FEATURE_SHARE, heaviest);
}

static int make_way(struct finding *f)
{
    uint32_t *places = arena_array(f->arena, f->path.count, sizeof *places);
    if (!places)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < f->path.count; i++)
        places[i] = f->path.steps[i].place;
    f->way = (struct way){f->doc, f->classes, places, f->path.count};
    return 0;
}

/* "writer", of the thread that the path is of. */
static const char *thread_name(const struct finding *f)
{
    const char *name = f->thread ? f->doc->threads[f->thread - 1].name : f->doc->thread.name;
    return name[0] ? name : "without a name";
}

/* How it came to Caller1, and the verdict that the document keeps. */
static int tell_why(struct feature *out, struct finding *f, size_t step, const char *how)
{
    uint64_t held = f->path.count ? f->path.steps[step].weight : 0;
    uint64_t total = f->path.total ? f->path.total : 1;
    if (f->path.count)
        f->doc->verdict =
            (struct resolved_verdict){true, f->path.steps[step].place, (uint32_t)(held * 1000000 / total)};
    out->why = arena_printf(f->arena, "%s holds %u %% of the sampled time%s%s (%s)", out->caller1.function,
                            (unsigned)(held * 100 / total), f->thread == MIRE_TREE_ALL ? "" : " of thread ",
                            f->thread == MIRE_TREE_ALL ? "" : thread_name(f), how);
    return out->why ? 0 : MIRE_FAULT_MEMORY;
}

static int find_callers(struct feature *out, struct finding *f)
{
    const char *how = "no sample has a stack";
    size_t one = 0;
    size_t two = 0;
    if (f->path.count) {
        one = way_caller1(&f->way, &how);
        two = way_caller2(&f->way, one);
        uint32_t *functions = f->functions;
        f->doc->hot.caller1 = hot_frame(f->doc, functions, functions[f->path.steps[one].place], false);
        f->doc->hot.caller2 = hot_frame(f->doc, functions, functions[f->path.steps[two].place], true);
    }
    int rc = way_caller(&out->caller1, f->arena, &f->way, one);
    if (!rc)
        rc = way_caller(&out->caller2, f->arena, &f->way, two);
    if (category_is_of_process(out->category) && f->report->hang.name[0])
        out->caller2 = (struct caller){f->report->hang.name, "", "", NULL};
    return rc ? rc : tell_why(out, f, one, how);
}

/* What the kind says itself; else what the samples say. */
static enum hang_reason find_reason(enum hang_category category, const struct finding *f)
{
    switch (category) {
    case MIRE_CATEGORY_CPU:
    case MIRE_CATEGORY_POWER:
    case MIRE_CATEGORY_THREADS:
        return MIRE_REASON_CPU;
    case MIRE_CATEGORY_DISK:
        return MIRE_REASON_IO;
    default:
        return reason_find(f->doc, f->report, f->classes);
    }
}

int feature_find(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules)
{
    struct finding f = {.arena = arena, .doc = doc, .report = report};
    *out = (struct feature){
        .category = category_find(report), .subject = "", .holder = "", .rules_version = rules_version(rules)};
    int rc = classes_find(&f.classes, arena, doc, report, rules);
    if (!rc)
        rc = tree_functions(&f.functions, arena, doc);
    if (!rc)
        rc = hot_find(doc, arena, f.functions);
    if (!rc)
        rc = find_path(&f);
    if (!rc)
        rc = make_way(&f);
    if (!rc)
        rc = find_callers(out, &f);
    if (rc)
        return rc;
    out->reason = find_reason(out->category, &f);
    if (out->reason == MIRE_REASON_LOCK)
        rc = holder_find(&out->holder, arena, doc, f.classes);
    return rc ? rc : feature_seal(out, arena);
}
