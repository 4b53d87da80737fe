/* classes.c - the class of a location: by a rule, otherwise by its module. */
#include "feature/classes.h"

#include "feature/start.h"
#include "feature/whose.h"

#include "base/fault.h"
#include "base/hash.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>

#define FIRST_RULES 32 /* room in a document */

struct image_class {
    const char *image; /* NULL: a free slot of the table */
    enum whose whose;
    const struct rules_module *rules;
};

struct judging {
    struct arena *arena;
    struct resolved *doc;
    const struct report *report;
    const struct rules *rules;
    struct rules_seen *seen;
    bool scripted;               /* the report has frames of a script */
    struct image_class *modules; /* by name of the image: a hash table */
    size_t room;
    uint8_t *position; /* per location: BETWEEN... */
    uint32_t *rule_of; /* per rule in use, by hash: index into `found` + 1 */
    size_t rule_room;
    struct resolved_rule *found;
    size_t found_count, found_room;
};

#define NOT_ENTRY 1 /* in some stack another function is outside it */
#define NOT_LEAF  2 /* in some, inside */

/* The module with that base name; NULL if the report has none. */
static const struct report_image *image_named(const struct report *report, const char *image)
{
    for (size_t i = 0; image[0] && i < report->image_count; i++)
        if (!strcmp(path_base(report->images[i].name), image))
            return &report->images[i];
    return NULL;
}

static size_t hash_text(const char *text)
{
    uint64_t hash = fnv_text(MIRE_HASH_START, text);
    return (size_t)(hash ^ hash >> 32);
}

static int find_module(struct image_class **out, struct judging *j, const char *image)
{
    size_t at = hash_text(image) & (j->room - 1);
    while (j->modules[at].image && strcmp(j->modules[at].image, image) != 0)
        at = (at + 1) & (j->room - 1);
    *out = &j->modules[at];
    if ((*out)->image)
        return 0;
    const struct report_image *module = image_named(j->report, image);
    int rc = seen_module(&(*out)->rules, j->seen, j->arena, j->rules, module ? module->name : image);
    if (rc)
        return rc;
    (*out)->image = image;
    (*out)->whose = whose_find(module, j->report->process.path, (*out)->rules);
    return 0;
}

/* Find the positions of the locations in their stacks. */
static void find_positions(struct judging *j)
{
    const struct resolved *doc = j->doc;
    for (size_t n = 1; n < doc->node_count; n++) {
        uint32_t parent = doc->nodes[n].parent;
        if (!parent)
            continue;
        j->position[doc->nodes[n].location] |= NOT_ENTRY;
        j->position[doc->nodes[parent].location] |= NOT_LEAF;
    }
}

/* Where the number of a rule in the document stands, counting from 1; 0 there: it is not noted yet. */
static uint32_t *slot_of(struct judging *j, const char *pack, unsigned line)
{
    size_t at = (line * 31u + (unsigned char)pack[0]) & (j->rule_room - 1);
    for (; j->rule_of[at]; at = (at + 1) & (j->rule_room - 1)) {
        const struct resolved_rule *rule = &j->found[j->rule_of[at] - 1];
        if (rule->line == line && !strcmp(rule->pack, pack))
            break;
    }
    return &j->rule_of[at];
}

/* Room for one rule more. False: no memory. */
static bool widen(struct judging *j)
{
    if (j->found_count < j->found_room)
        return true;
    struct resolved_rule *wider = arena_array(j->arena, j->found_room * 2, sizeof *wider);
    if (!wider)
        return false;
    memcpy(wider, j->found, j->found_count * sizeof *wider);
    j->found = wider;
    j->found_room *= 2;
    return true;
}

/* Its number from now on; 0: no memory. */
static uint32_t add_rule(struct judging *j, uint32_t *slot, struct resolved_rule rule)
{
    if (!rule.text || !widen(j))
        return 0;
    j->found[j->found_count] = rule;
    return *slot = (uint32_t)++j->found_count;
}

/* Number of a rule in the document, counting from 1. 0: no memory. */
static uint32_t note_rule(struct judging *j, const struct rule_found *found)
{
    uint32_t *slot = slot_of(j, found->pack, found->line);
    if (*slot)
        return *slot;
    const char *text = arena_strdup(j->arena, found->text);
    return add_rule(j, slot, (struct resolved_rule){found->pack, found->version, found->line, text});
}

/*
 * A rule decides, otherwise the module: the app's own modules and modules that no rule calls system are app; an address
 * outside all modules has no owner; a name outside all modules (of an interpreter or of Java) may be to blame. A
 * directory alone does not make a module the system's: without other facts its owner is unknown. A copy of Qt in the
 * app's package is Qt; Debian's libdbus is the code of dbus-daemon, the program of its source package. Modules of some
 * formats have only an id: their debug files say which are the system's. A rule of the app's team always decides.
 */
static enum rule_class judge(bool *by_rule_out, const struct rule_found *found, const struct image_class *module,
                             const struct resolved_location *location)
{
    bool known = location->image[0] || location->named;
    bool system = found->class == MIRE_CLASS_SYSTEM;
    bool unknown = system && found->by_path && module->whose == MIRE_WHOSE_UNKNOWN && module->image[0];
    bool own =
        (module->whose == MIRE_WHOSE_OWN && found->builtin) || (module->whose == MIRE_WHOSE_BUNDLED && found->by_path);
    *by_rule_out = known && found->class != MIRE_CLASS_NONE && !unknown && !(system && own);
    if (*by_rule_out)
        return found->class;
    if (location->system)
        return MIRE_CLASS_SYSTEM;
    return known && !unknown ? MIRE_CLASS_APP : MIRE_CLASS_NONE;
}

/* The rule that changed a name, as a row of the document's rules; 0: no memory. */
static uint32_t note_name_rule(struct judging *j, uint8_t number)
{
    const struct name_rule *rule = &name_rules[number];
    uint32_t *slot = slot_of(j, MIRE_NAMES_PACK, number + 1u);
    if (*slot)
        return *slot;
    const char *text = arena_printf(j->arena, "%s -> %s: %s", rule->pattern, rule->with, rule->reason);
    return add_rule(j, slot, (struct resolved_rule){MIRE_NAMES_PACK, MIRE_NAMES_VERSION, number + 1u, text});
}

/* Its names, and their rules; *made_out: the rule by which the compiler made the function, or 0. */
static int find_names(struct name *out, uint32_t *made_out, struct judging *j, const struct resolved_location *location)
{
    *made_out = 0;
    *out = (struct name){.key = location->function, .shown = location->function};
    int rc = location->named && !location->script ? name_find(out, j->arena, location->function, location->file) : 0;
    for (size_t i = 0; !rc && i < out->rule_count; i++) {
        uint32_t rule = note_name_rule(j, out->rules[i]);
        rc = rule ? 0 : MIRE_FAULT_MEMORY;
        if (name_rules[out->rules[i]].flags & NAME_MADE && !*made_out)
            *made_out = rule;
    }
    return rc;
}

static int judge_place(struct classes *out, struct judging *j, struct resolved_location *location, size_t at)
{
    struct rule_found found, mark;
    struct image_class *module;
    uint32_t made = 0;
    bool by_rule;
    int rc = find_module(&module, j, location->script && location->file[0] ? location->file : location->image);
    if (!rc)
        rc = find_names(&out->names[at], &made, j, location);
    if (rc)
        return rc;
    const char *function = location->named ? out->names[at].shown : "";
    const struct rules_subject subject = {
        .module = module->rules,
        .function = function,
        .file = location->file,
        .language = language_of(location->script && location->file[0] ? "" : function, location->file),
        .entry = !(j->position[at] & NOT_ENTRY),
        .leaf = !(j->position[at] & NOT_LEAF)};
    rc = seen_find(&found, &mark, j->seen, j->arena, j->rules, &subject);
    if (rc)
        return rc;
    out->of[at] = judge(&by_rule, &found, module, location);
    if (j->scripted && !location->script && rule_class_is_app(out->of[at]) && module->rules->interpreter.class) {
        found = module->rules->interpreter;
        out->of[at] = MIRE_CLASS_RUNTIME;
        by_rule = true;
    }
    if (made && !by_rule && out->of[at] == MIRE_CLASS_APP)
        out->of[at] = MIRE_CLASS_MADE;
    location->role = rule_role(out->of[at]);
    location->rule = out->of[at] == MIRE_CLASS_MADE ? made : 0;
    if (by_rule)
        location->rule = note_rule(j, &found);
    out->marks[at] = mark.class;
    location->mark = out->marks[at] ? note_rule(j, &mark) : 0;
    out->marked |= out->marks[at] != MIRE_CLASS_NONE;
    return (by_rule && !location->rule) || (out->marks[at] && !location->mark) ? MIRE_FAULT_MEMORY : 0;
}

static size_t table_room(size_t count)
{
    size_t room = 16;
    while (room < count * 2)
        room *= 2;
    return room;
}

int classes_find(struct classes *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules, struct rules_seen *seen)
{
    size_t count = doc->location_count;
    struct rules_seen own = {0};
    struct judging j = {.arena = arena,
                        .doc = doc,
                        .report = report,
                        .rules = rules,
                        .seen = seen ? seen : &own,
                        .found_room = FIRST_RULES,
                        .room = table_room(count),
                        .rule_room = table_room(2 * count + name_rule_count)};
    struct resolved_location *locations = arena_array(arena, count, sizeof *locations);
    out->of = arena_array(arena, count, sizeof *out->of);
    out->marks = arena_array(arena, count, sizeof *out->marks);
    out->names = arena_array(arena, count, sizeof *out->names);
    out->marked = false;
    j.modules = arena_array(arena, j.room, sizeof *j.modules);
    j.position = arena_array(arena, count, sizeof *j.position);
    j.rule_of = arena_array(arena, j.rule_room, sizeof *j.rule_of);
    j.found = arena_array(arena, j.found_room, sizeof *j.found);
    if (!locations || !out->of || !out->marks || !out->names || !j.modules || !j.position || !j.rule_of || !j.found)
        return MIRE_FAULT_MEMORY;
    if (count)
        memcpy(locations, doc->locations, count * sizeof *locations);
    find_positions(&j);
    for (size_t i = 0; i < report->image_count; i++)
        j.scripted |= report->images[i].script[0] != '\0';
    for (size_t p = 0; p < count; p++) {
        int rc = judge_place(out, &j, &locations[p], p);
        if (rc)
            return rc;
    }
    start_find(out, locations, doc, report);
    doc->locations = locations;
    doc->rules = j.found;
    doc->rule_count = j.found_count;
    return 0;
}
