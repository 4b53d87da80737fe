/* start.c - parents come before their children, so one pass over the nodes sees every start function before main. */
#include "feature/start.h"

#include <string.h>

static bool is_libc(const struct resolved_place *place)
{
    return !strncmp(place->image, "libc.so", 7) || !strncmp(place->image, "libc-2.", 7) ||
           !strncmp(place->image, "ld-musl-", 8) || !strncmp(place->image, "libc.musl-", 10);
}

static bool is_program(const struct resolved_place *place, const struct report *report)
{
    const char *slash = strrchr(report->process.path, '/');
    return place->image[0] && slash && !strcmp(place->image, slash + 1);
}

/* A libc without names counts by where it stands: called by the outermost frame, which is the program's. */
static bool is_start(const struct resolved *doc, const struct resolved_place *places, const struct report *report,
                     uint32_t node)
{
    static const char *const names[] = {"__libc_start_main", "__libc_start_call_main", "libc_start_main_stage2",
                                        "__libc_init", "generic_start_main"};
    for (; node; node = doc->nodes[node].parent) {
        const struct resolved_place *place = &places[doc->nodes[node].place];
        uint32_t parent = doc->nodes[node].parent;
        for (size_t i = 0; place->named && i < sizeof names / sizeof *names; i++)
            if (!strncmp(place->function, names[i], strlen(names[i])))
                return true;
        if (place->named || !is_libc(place) || !parent)
            return false;
        if (!doc->nodes[parent].parent && is_program(&places[doc->nodes[parent].place], report))
            return true;
    }
    return false;
}

static void outside(struct classes *classes, struct resolved_place *places, const struct resolved *doc, uint32_t node)
{
    while ((node = doc->nodes[node].parent)) {
        uint32_t place = doc->nodes[node].place;
        classes->of[place] = MIRE_CLASS_RUNTIME;
        places[place].role = MIRE_ROLE_RUNTIME;
        places[place].rule = 0;
    }
}

void start_find(struct classes *classes, struct resolved_place *places, const struct resolved *doc,
                const struct report *report)
{
    for (uint32_t n = 1; n < doc->node_count; n++) {
        uint32_t parent = doc->nodes[n].parent;
        struct resolved_place *place = &places[doc->nodes[n].place];
        if (!parent || is_start(doc, places, report, n) || !is_start(doc, places, report, parent))
            continue;
        outside(classes, places, doc, parent);
        if (!place->named && is_program(place, report)) {
            place->named = true;
            place->function = "main";
            classes->names[doc->nodes[n].place] = (struct name){.key = "main", .shown = "main"};
        }
    }
}
