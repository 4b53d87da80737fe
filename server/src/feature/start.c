/* start.c - parents come before their children, so one pass over the nodes sees every start function before main. */
#include "feature/start.h"

#include <string.h>

static bool is_libc(const struct resolved_location *location)
{
    return !strncmp(location->image, "libc.so", 7) || !strncmp(location->image, "libc-2.", 7) ||
           !strncmp(location->image, "ld-musl-", 8) || !strncmp(location->image, "libc.musl-", 10);
}

static bool is_program(const struct resolved_location *location, const struct report *report)
{
    const char *slash = strrchr(report->process.path, '/');
    return location->image[0] && slash && !strcmp(location->image, slash + 1);
}

/* A libc without names is recognised by its position: called by the outermost frame, which is the program's. */
static bool is_start(const struct resolved *doc, const struct resolved_location *locations, const struct report *report,
                     uint32_t node)
{
    static const char *const names[] = {"__libc_start_main", "__libc_start_call_main", "libc_start_main_stage2",
                                        "__libc_init", "generic_start_main"};
    for (; node; node = doc->nodes[node].parent) {
        const struct resolved_location *location = &locations[doc->nodes[node].location];
        uint32_t parent = doc->nodes[node].parent;
        for (size_t i = 0; location->named && i < sizeof names / sizeof *names; i++)
            if (location->function[0] == names[i][0] && !strncmp(location->function, names[i], strlen(names[i])))
                return true;
        if (location->named || !is_libc(location) || !parent)
            return false;
        if (!doc->nodes[parent].parent && is_program(&locations[doc->nodes[parent].location], report))
            return true;
    }
    return false;
}

static void outside(struct classes *classes, struct resolved_location *locations, const struct resolved *doc,
                    uint32_t node)
{
    while ((node = doc->nodes[node].parent)) {
        uint32_t location = doc->nodes[node].location;
        classes->of[location] = MIRE_CLASS_RUNTIME;
        locations[location].role = MIRE_ROLE_RUNTIME;
        locations[location].rule = 0;
    }
}

void start_find(struct classes *classes, struct resolved_location *locations, const struct resolved *doc,
                const struct report *report)
{
    for (uint32_t n = 1; n < doc->node_count; n++) {
        uint32_t parent = doc->nodes[n].parent;
        struct resolved_location *location = &locations[doc->nodes[n].location];
        if (!parent || !is_start(doc, locations, report, parent) || is_start(doc, locations, report, n))
            continue;
        outside(classes, locations, doc, parent);
        if (!location->named && is_program(location, report)) {
            location->named = true;
            location->function = "main";
            classes->names[doc->nodes[n].location] = (struct name){.key = "main", .shown = "main"};
        }
    }
}
