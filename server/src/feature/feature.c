/*
 * feature.c - classes of all places, the path that holds the time, the two callers on it, and the key.
 */
#include "feature/feature.h"
#include "feature/category.h"
#include "feature/holder.h"
#include "feature/hot.h"
#include "feature/reason.h"
#include "feature/tree.h"

#include "base/fault.h"
#include "base/id.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct finding {
    struct arena *arena;
    struct resolved *doc;
    const struct report *report;
    enum rule_class *classes; /* per place */
    uint32_t *functions;      /* per place */
    struct tree_path path;
    uint32_t thread; /* whose path, MIRE_TREE_ALL: everybody's */
};

const char *reason_name(enum hang_reason reason)
{
    static const char *const names[] = {"unknown", "cpu", "io", "lock", "sleep", "wait"};
    return names[reason];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Path of the module with that base name; the base name itself if the report has none. */
static const char *path_of(const struct report *report, const char *image)
{
    for (size_t i = 0; i < report->image_count; i++)
        if (!strcmp(base_name(report->images[i].name), image))
            return report->images[i].name;
    return image;
}

enum verdict { BY_RULE, BY_NAME_OF_PROGRAM, BY_DEFAULT, IN_NO_MODULE };

/*
 * A rule, else the module: the program's own executable and what no rule calls system is app; an address outside all
 * modules is nobody's.
 */
static enum verdict judge(struct rule_found *out, const struct resolved_place *place, const struct report *report,
                          const struct rules *rules)
{
    *out = (struct rule_found){.class = MIRE_CLASS_NONE};
    if (!place->image[0])
        return IN_NO_MODULE;
    const char *path = path_of(report, place->image);
    bool found = rules_find(out, rules, path, place->named ? place->function : "");
    bool own = path[0] && !strcmp(path, report->process.path);
    if (found && !(own && out->class == MIRE_CLASS_SYSTEM))
        return BY_RULE;
    out->class = MIRE_CLASS_APP;
    return own ? BY_NAME_OF_PROGRAM : BY_DEFAULT;
}

void feature_explain(char *out, size_t room, const struct resolved_place *place, const struct report *report,
                     const struct rules *rules)
{
    struct rule_found found;
    switch (judge(&found, place, report, rules)) {
    case BY_RULE:
        snprintf(out, room, "%s: line %u of the %s pack %d, %s %s", rule_class_name(found.class), found.line,
                 found.builtin ? "built-in" : "extra", found.version, found.module, found.function);
        return;
    case BY_NAME_OF_PROGRAM:
        snprintf(out, room, "app: the program itself, no rule fits");
        return;
    case BY_DEFAULT:
        snprintf(out, room, "app: no rule fits");
        return;
    case IN_NO_MODULE:
        snprintf(out, room, "unknown: code outside all modules");
        return;
    }
}

static int classify_all(struct finding *f, const struct rules *rules)
{
    struct resolved *doc = f->doc;
    struct resolved_place *places = arena_array(f->arena, doc->place_count, sizeof *places);
    f->classes = arena_array(f->arena, doc->place_count, sizeof *f->classes);
    if (!places || !f->classes)
        return MIRE_FAULT_MEMORY;
    if (doc->place_count)
        memcpy(places, doc->places, doc->place_count * sizeof *places);
    for (size_t p = 0; p < doc->place_count; p++) {
        struct rule_found found;
        (void)judge(&found, &places[p], f->report, rules);
        f->classes[p] = found.class;
        places[p].role = rule_role(f->classes[p]);
    }
    doc->places = places;
    return 0;
}

static enum rule_class class_at(const struct finding *f, size_t step)
{
    return f->classes[f->path.steps[step].place];
}

/* Step of the path to blame; count if there is no path. *how says why it. */
static size_t find_caller1(const struct finding *f, const char **how)
{
    size_t count = f->path.count;
    *how = "deepest app frame of the path";
    for (size_t i = count; i-- > 0;)
        if (class_at(f, i) == MIRE_CLASS_APP)
            return i;
    *how = "no app frame on the path: deepest named frame of a library";
    for (size_t i = count; i-- > 0;)
        if (f->doc->places[f->path.steps[i].place].named &&
            (class_at(f, i) == MIRE_CLASS_SYSTEM || class_at(f, i) == MIRE_CLASS_DISPATCH))
            return i;
    *how = "nothing but runtime on the path: its deepest frame";
    return count ? count - 1 : 0;
}

/* First step inside the innermost dispatch above Caller1; without one, inside the first library that the app calls and
 * that calls it back. */
static size_t inside_dispatch(const struct finding *f, size_t caller1)
{
    size_t from = 0;
    bool app = false;
    for (size_t i = 0; i < caller1; i++)
        if (class_at(f, i) == MIRE_CLASS_DISPATCH)
            from = i + 1;
    for (size_t i = 0; i < caller1 && !from; i++) {
        app |= class_at(f, i) == MIRE_CLASS_APP;
        if (app && class_at(f, i) == MIRE_CLASS_SYSTEM)
            from = i + 1;
    }
    return from;
}

/*
 * Step of the scene: the first app frame from there on. One with a name is preferred: what lies nameless between a loop
 * and its handlers is mostly the loop's own.
 */
static size_t find_caller2(const struct finding *f, size_t caller1)
{
    size_t from = inside_dispatch(f, caller1);
    size_t first = caller1;
    for (size_t i = caller1; i-- > from;)
        if (class_at(f, i) == MIRE_CLASS_APP)
            first = i;
    for (size_t i = first; i < caller1; i++)
        if (class_at(f, i) == MIRE_CLASS_APP && f->doc->places[f->path.steps[i].place].named)
            return i;
    return first;
}

/* Where suffixes begin that compilers and linkers add to a function's name: .part.0, .constprop.0, .cold, @@GLIBC_2.2.5
 */
static size_t plain_length(const char *name)
{
    static const char *const marks[] = {".part.",     ".constprop.", ".isra.",  ".cold",
                                        ".lto_priv.", ".llvm.",      " [clone", "@"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(name, marks[i]);
        if (mark && mark != name && (size_t)(mark - name) < len)
            len = (size_t)(mark - name);
    }
    return len;
}

/* libfoo.so.1.2.3 -> libfoo.so: the version of a library does not make another feature. */
static size_t module_length(const char *image)
{
    const char *so = strstr(image, ".so.");
    return so && isdigit((unsigned char)so[4]) ? (size_t)(so - image) + 3 : strlen(image);
}

static int describe(struct caller *out, const struct finding *f, size_t step)
{
    if (!f->path.count) {
        *out = (struct caller){"(no stack)", "", ""};
        return 0;
    }
    const struct resolved_place *place = &f->doc->places[f->path.steps[step].place];
    size_t len = place->named ? plain_length(place->function) : strlen(place->function);
    out->function = arena_copy(f->arena, place->function, len);
    out->image = place->image;
    out->place = place->file[0] ? arena_printf(f->arena, "%s:%u", place->file, place->line) : "";
    return out->function && out->place ? 0 : MIRE_FAULT_MEMORY;
}

/* What the key is made of: parts, each ended by a zero byte, none of which can hold one. */
static int make_key(struct feature *out, struct arena *arena)
{
    char *parts = arena_printf(arena, "%s%c%.*s%c%s%c%.*s%c%s%c%s", out->caller1.function, 0,
                               (int)module_length(out->caller1.image), out->caller1.image, 0, out->caller2.function, 0,
                               (int)module_length(out->caller2.image), out->caller2.image, 0,
                               category_name(out->category), 0, reason_name(out->reason));
    if (!parts)
        return MIRE_FAULT_MEMORY;
    size_t len = strlen(out->caller1.function) + module_length(out->caller1.image) + strlen(out->caller2.function) +
                 module_length(out->caller2.image) + strlen(category_name(out->category)) +
                 strlen(reason_name(out->reason)) + 5;
    hash_blake2b(out->key, sizeof out->key, parts, len);
    return 0;
}

static bool has_app(const struct finding *f)
{
    for (size_t i = 0; i < f->path.count; i++)
        if (class_at(f, i) == MIRE_CLASS_APP)
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
        one = find_caller1(f, &how);
        two = find_caller2(f, one);
        uint32_t *functions = f->functions;
        f->doc->hot.caller1 = hot_frame(f->doc, functions, functions[f->path.steps[one].place], false);
        f->doc->hot.caller2 = hot_frame(f->doc, functions, functions[f->path.steps[two].place], true);
    }
    int rc = describe(&out->caller1, f, one);
    if (!rc)
        rc = describe(&out->caller2, f, two);
    if (category_is_of_process(out->category) && f->report->hang.name[0])
        out->caller2 = (struct caller){f->report->hang.name, "", ""};
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
    *out = (struct feature){.category = category_find(report), .holder = "", .rules_version = rules_version(rules)};
    int rc = classify_all(&f, rules);
    if (!rc)
        rc = tree_functions(&f.functions, arena, doc);
    if (!rc)
        rc = hot_find(doc, arena, f.functions);
    if (!rc)
        rc = find_path(&f);
    if (!rc)
        rc = find_callers(out, &f);
    if (rc)
        return rc;
    out->reason = find_reason(out->category, &f);
    if (out->reason == MIRE_REASON_LOCK)
        rc = holder_find(&out->holder, arena, doc, f.classes);
    return rc ? rc : make_key(out, arena);
}
