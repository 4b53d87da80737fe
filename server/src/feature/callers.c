/* callers.c - the function to blame on a way, and the key. */
#include "feature/callers.h"

#include "base/fault.h"
#include "base/hash.h"
#include "base/id.h"
#include "feature/classes.h"

#include <ctype.h>
#include <string.h>

static enum rule_class class_at(const struct way *way, size_t step)
{
    return way->classes[way->locations[step]];
}

/* The entry function of a program: in Go and Rust, main of its package; in a script, the code outside all functions. */
static bool is_main(const struct resolved_location *location)
{
    static const char *const names[] = {"main", "main.main"};
    const char *colons = strstr(location->function, "::");
    bool found = colons && !strcmp(colons, "::main");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= !strcmp(location->function, names[i]);
    return location->named && (found || (location->script && !strcmp(location->function, "<module>")));
}

bool way_unknown_inside(struct way_found *out, const struct way *way, size_t step)
{
    for (size_t i = way->count; i-- > step + 1;)
        if (class_at(way, i) == MIRE_CLASS_NONE && way->doc->locations[way->locations[i]].image[0]) {
            *out =
                (struct way_found){i, WAY_UNKNOWN, "main only calls: deepest frame of a module that may be the app's"};
            return true;
        }
    return false;
}

bool way_is_main(const struct way *way, size_t step)
{
    return is_main(&way->doc->locations[way->locations[step]]);
}

struct way_found way_caller1(const struct way *way)
{
    size_t count = way->count;
    bool loop = false;
    for (size_t i = count; i-- > 0;) {
        if (rule_class_is_app(class_at(way, i)) && !(loop && is_main(&way->doc->locations[way->locations[i]])))
            return (struct way_found){i, WAY_APP, "deepest app frame of the path"};
        loop |= class_at(way, i) == MIRE_CLASS_DISPATCH;
    }
    for (size_t i = count; i-- > 0;)
        if (class_at(way, i) == MIRE_CLASS_MADE)
            return (struct way_found){i, WAY_APP, "no other app frame on the path: deepest one that the compiler made"};
    for (size_t i = count; i-- > 0;)
        if (class_at(way, i) == MIRE_CLASS_NONE && way->doc->locations[way->locations[i]].image[0])
            return (struct way_found){i, WAY_UNKNOWN,
                                      "no app frame on the path: deepest frame of a module that may be the app's"};
    for (size_t i = count; i-- > 0;)
        if (way->doc->locations[way->locations[i]].named &&
            (class_at(way, i) == MIRE_CLASS_SYSTEM || class_at(way, i) == MIRE_CLASS_DISPATCH))
            return (struct way_found){i, WAY_LIBRARY, "no app frame on the path: deepest named frame of a library"};
    if (!count)
        return (struct way_found){0, WAY_EMPTY, "no sample has a stack"};
    return (struct way_found){count - 1, WAY_RUNTIME, "nothing but runtime on the path: its deepest frame"};
}

bool way_has_app(const struct resolved *doc, const enum rule_class *classes, uint32_t node)
{
    bool loop = false;
    for (; node; node = doc->nodes[node].parent) {
        enum rule_class here = classes[doc->nodes[node].location];
        bool app = !class_is_skipped(here) || here == MIRE_CLASS_MADE;
        if (app && !(loop && is_main(&doc->locations[doc->nodes[node].location])))
            return true;
        loop |= here == MIRE_CLASS_DISPATCH;
    }
    return false;
}

/* The first step inside the loop: the step where the way parts from that of the loop's wait, or the one inside the
 * innermost dispatch above Caller1 if that lies further in. Without both, the step inside the first library that the
 * app calls and that calls the app back. */
static size_t inside_dispatch(const struct way *way, size_t caller1)
{
    size_t from = way->parted < caller1 ? way->parted : caller1; /* otherwise the loop itself works */
    bool app = false;
    for (size_t i = 0; i < caller1; i++)
        if (class_at(way, i) == MIRE_CLASS_DISPATCH && i >= from)
            from = i + 1;
    for (size_t i = 0; i < caller1 && !from; i++) {
        app |= rule_class_is_app(class_at(way, i));
        if (app && class_at(way, i) == MIRE_CLASS_SYSTEM)
            from = i + 1;
    }
    return from;
}

/* The outermost function inside the dispatch that a rule calls a scene; otherwise the innermost one outside it. */
static bool find_scene(size_t *out, const struct way *way, size_t from, size_t caller1)
{
    for (size_t i = from; i <= caller1; i++)
        if (class_at(way, i) == MIRE_CLASS_SCENE) {
            *out = i;
            return true;
        }
    for (size_t i = from; i-- > 0;)
        if (class_at(way, i) == MIRE_CLASS_SCENE) {
            *out = i;
            return true;
        }
    return false;
}

/* The thread's entry: its outermost function with a name, without functions that only start the thread. */
static size_t find_entry(const struct way *way)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->doc->locations[way->locations[i]].named && class_at(way, i) != MIRE_CLASS_RUNTIME)
            return i;
    return 0;
}

/*
 * Step of the scene: the one that a rule names; otherwise the first app frame from the dispatch on; otherwise the
 * thread's entry. An app frame with a name is preferred, because a nameless one between a loop and its handlers is
 * mostly part of the loop. main is the outermost function of every program and tells nothing about the scene, so any
 * other app frame outside Caller1 is preferred.
 */
size_t way_caller2(const struct way *way, size_t caller1)
{
    size_t from = inside_dispatch(way, caller1);
    size_t first = caller1;
    if (find_scene(&first, way, from, caller1))
        return first;
    if (class_at(way, caller1) == MIRE_CLASS_MADE)
        return caller1;
    if (!rule_class_is_app(class_at(way, caller1)))
        return find_entry(way);
    for (size_t i = caller1; i-- > from;)
        if (rule_class_is_app(class_at(way, i)))
            first = i;
    for (size_t i = first; i < caller1; i++)
        if (rule_class_is_app(class_at(way, i)) && way->doc->locations[way->locations[i]].named &&
            !is_main(&way->doc->locations[way->locations[i]]))
            return i;
    for (size_t i = first; i < caller1; i++)
        if (rule_class_is_app(class_at(way, i)) && !is_main(&way->doc->locations[way->locations[i]]))
            return i;
    return is_main(&way->doc->locations[way->locations[first]]) ? caller1 : first; /* as where main's wait is known */
}

bool way_is_scene(const struct way *way, size_t step)
{
    return step < way->count && class_at(way, step) == MIRE_CLASS_SCENE;
}

struct way_found way_moment(const struct way *way, size_t caller1)
{
    for (size_t i = caller1 + 1, from = inside_dispatch(way, caller1); i-- > from;)
        if (class_at(way, i) == MIRE_CLASS_SCENE)
            return (struct way_found){i, WAY_APP, "one moment of a computation: the innermost scene inside the loop"};
    return (struct way_found){way_caller2(way, caller1), WAY_APP,
                              "one moment of a computation: the outermost app frame inside the loop"};
}

/* libfoo.so.1.2.3 -> libfoo.so: the version of a library does not make another feature. */
static size_t module_length(const char *image)
{
    const char *so = strstr(image, ".so.");
    return so && isdigit((unsigned char)so[4]) ? (size_t)(so - image) + 3 : strlen(image);
}

int way_caller(struct caller *out, struct arena *arena, const struct way *way, size_t step)
{
    if (!way->count) {
        *out = (struct caller){.function = "(no stack)", .image = "", .location = ""};
        return 0;
    }
    const struct resolved_location *location = &way->doc->locations[way->locations[step]];
    out->name = &way->names[way->locations[step]];
    out->function = out->name->shown;
    out->image = location->image;
    bool own =
        !location->named || rule_class_is_app(class_at(way, step)); /* a platform's name is the same in all builds */
    out->build = own && location->build && location->build[0] ? location->build : NULL;
    out->location = location->file[0] ? arena_printf(arena, "%s:%u", location->file, location->line) : "";
    return out->location ? 0 : MIRE_FAULT_MEMORY;
}

/* The module of a caller with an offset for a name. The same offset in another build is another function, so the build
 * counts too. */
static const char *module_of(const struct caller *caller)
{
    return caller->build ? caller->build : caller->image;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    return fnv_step(fnv_bytes(hash, bytes, len), 0xff);
}

int32_t way_tree(const struct way *way, size_t caller1)
{
    uint64_t all = MIRE_HASH_START, last = 0;
    for (size_t i = 0; i < way->count && i <= caller1; i++) {
        const struct resolved_location *location = &way->doc->locations[way->locations[i]];
        if (class_at(way, i) == MIRE_CLASS_MADE && i < caller1)
            continue;
        uint64_t one = hash_bytes(MIRE_HASH_START, location->image, module_length(location->image));
        if (location->named)
            one = hash_bytes(one, way->names[way->locations[i]].key, strlen(way->names[way->locations[i]].key));
        if (one != last)
            all = hash_bytes(all, (const char *)&one, sizeof one);
        last = one;
    }
    uint32_t folded = (uint32_t)(all ^ all >> 32);
    if (!way->count)
        return 0;
    return folded ? (int32_t)folded : 1;
}

static const char *key_name(const struct caller *caller)
{
    return caller->name ? caller->name->key : caller->function;
}

/* The rules in the document that changed a caller's name. */
static int find_rules(struct resolved_part *out, struct arena *arena, const struct resolved *doc,
                      const struct name *name)
{
    uint32_t *rules = arena_array(arena, MIRE_NAMES_RULES, sizeof *rules);
    if (!rules)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < doc->rule_count; i++)
        for (size_t k = 0; k < name->rule_count; k++)
            if (!strcmp(doc->rules[i].pack, MIRE_NAMES_PACK) && doc->rules[i].line == name->rules[k] + 1u)
                rules[out->rule_count++] = (uint32_t)i;
    out->rules = rules;
    return 0;
}

/* The key is a hash of the parts, with a zero byte between them, which no part contains. The subject is a part only if
 * there is one. */
int feature_seal(struct feature *feature, struct arena *arena, struct resolved *doc)
{
    const struct caller *one = &feature->caller1, *two = &feature->caller2;
    const struct resolved_part all[] = {{"caller1", key_name(one), NULL, 0},
                                        {"module1", module_of(one), NULL, 0},
                                        {"caller2", key_name(two), NULL, 0},
                                        {"module2", module_of(two), NULL, 0},
                                        {"category", category_name(feature->category), NULL, 0},
                                        {"reason", feature_reason(feature), NULL, 0},
                                        {"subject", feature->subject, NULL, 0}};
    size_t count = feature->subject[0] ? 7 : 6, len = 0, at = 0;
    struct resolved_part *parts = arena_array(arena, count, sizeof *parts);
    int rc = parts ? 0 : MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < count; i++) {
        const struct caller *caller = i == 2 ? two : NULL;
        if (i == 0)
            caller = one;
        parts[i] = all[i];
        if (i == 1 || i == 3)
            parts[i].text = arena_copy(arena, all[i].text, module_length(all[i].text));
        if (!parts[i].text)
            return MIRE_FAULT_MEMORY;
        if (caller && caller->name && caller->name->rule_count)
            rc = find_rules(&parts[i], arena, doc, caller->name);
        len += strlen(parts[i].text) + 1;
    }
    char *key = rc ? NULL : arena_alloc(arena, len);
    if (!key)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; at += strlen(parts[i++].text) + 1)
        memcpy(key + at, parts[i].text, strlen(parts[i].text) + 1);
    hash_blake2b(feature->key, sizeof feature->key, key, len - 1);
    size_t scene = strlen(parts[0].text) + strlen(parts[1].text) + 2;
    size_t behind = scene + strlen(parts[2].text) + strlen(parts[3].text) + 2;
    memmove(key + scene, key + behind, len - behind);
    hash_blake2b(feature->blame, sizeof feature->blame, key, len - 1 - (behind - scene));
    doc->parts = parts;
    doc->part_count = count;
    return 0;
}
