/* classes.c - a rule, else the module. */
#include "feature/classes.h"

#include "base/fault.h"
#include "feature/feature.h"

#include <stdio.h>
#include <string.h>

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

int classes_find(enum rule_class **out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules)
{
    struct resolved_place *places = arena_array(arena, doc->place_count, sizeof *places);
    enum rule_class *classes = arena_array(arena, doc->place_count, sizeof *classes);
    if (!places || !classes)
        return MIRE_FAULT_MEMORY;
    if (doc->place_count)
        memcpy(places, doc->places, doc->place_count * sizeof *places);
    for (size_t p = 0; p < doc->place_count; p++) {
        struct rule_found found;
        (void)judge(&found, &places[p], report, rules);
        classes[p] = found.class;
        places[p].role = rule_role(classes[p]);
    }
    doc->places = places;
    *out = classes;
    return 0;
}
