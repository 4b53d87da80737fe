/* callers.c - who on a way is to blame, and the key that follows. */
#include "feature/callers.h"

#include "base/fault.h"
#include "base/id.h"

#include <ctype.h>
#include <string.h>

static enum rule_class class_at(const struct way *way, size_t step)
{
    return way->classes[way->places[step]];
}

/* Step of the path to blame; count if there is no path. *how says why it. */
size_t way_caller1(const struct way *way, const char **how)
{
    size_t count = way->count;
    *how = "deepest app frame of the path";
    for (size_t i = count; i-- > 0;)
        if (class_at(way, i) == MIRE_CLASS_APP)
            return i;
    *how = "no app frame on the path: deepest named frame of a library";
    for (size_t i = count; i-- > 0;)
        if (way->doc->places[way->places[i]].named &&
            (class_at(way, i) == MIRE_CLASS_SYSTEM || class_at(way, i) == MIRE_CLASS_DISPATCH))
            return i;
    *how = "nothing but runtime on the path: its deepest frame";
    return count ? count - 1 : 0;
}

/* First step inside the innermost dispatch above Caller1; without one, inside the first library that the app calls and
 * that calls it back. */
static size_t inside_dispatch(const struct way *way, size_t caller1)
{
    size_t from = 0;
    bool app = false;
    for (size_t i = 0; i < caller1; i++)
        if (class_at(way, i) == MIRE_CLASS_DISPATCH)
            from = i + 1;
    for (size_t i = 0; i < caller1 && !from; i++) {
        app |= class_at(way, i) == MIRE_CLASS_APP;
        if (app && class_at(way, i) == MIRE_CLASS_SYSTEM)
            from = i + 1;
    }
    return from;
}

/*
 * Step of the scene: the first app frame from there on. One with a name is preferred: what lies nameless between a loop
 * and its handlers is mostly the loop's own. main is every program's outermost: it is passed over if it can be.
 */
size_t way_caller2(const struct way *way, size_t caller1)
{
    size_t from = inside_dispatch(way, caller1);
    size_t first = caller1;
    for (size_t i = caller1; i-- > from;)
        if (class_at(way, i) == MIRE_CLASS_APP)
            first = i;
    for (size_t i = first; i < caller1; i++)
        if (class_at(way, i) == MIRE_CLASS_APP && way->doc->places[way->places[i]].named &&
            strcmp(way->doc->places[way->places[i]].function, "main") != 0)
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

int way_caller(struct caller *out, struct arena *arena, const struct way *way, size_t step)
{
    if (!way->count) {
        *out = (struct caller){"(no stack)", "", "", NULL};
        return 0;
    }
    const struct resolved_place *place = &way->doc->places[way->places[step]];
    size_t len = place->named ? plain_length(place->function) : strlen(place->function);
    out->function = arena_copy(arena, place->function, len);
    out->image = place->image;
    out->build = !place->named && place->build && place->build[0] ? place->build : NULL;
    out->place = place->file[0] ? arena_printf(arena, "%s:%u", place->file, place->line) : "";
    return out->function && out->place ? 0 : MIRE_FAULT_MEMORY;
}

/* The module a caller is in. An offset is one of a build: the same one in another build is another function. */
static const char *module_of(const struct caller *caller)
{
    return caller->build ? caller->build : caller->image;
}

/* What the key is made of: parts with a zero byte between, which none of them can hold; the subject only where there is
 * one. */
int feature_seal(struct feature *feature, struct arena *arena)
{
    const char *const parts[] = {feature->caller1.function,
                                 module_of(&feature->caller1),
                                 feature->caller2.function,
                                 module_of(&feature->caller2),
                                 category_name(feature->category),
                                 reason_name(feature->reason),
                                 feature->subject};
    size_t lengths[7], len = 0, at = 0;
    size_t count = feature->subject[0] ? 7 : 6;
    for (size_t i = 0; i < count; i++) {
        lengths[i] = i == 1 || i == 3 ? module_length(parts[i]) : strlen(parts[i]);
        len += lengths[i] + 1;
    }
    char *key = arena_alloc(arena, len);
    if (!key)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; at += lengths[i++] + 1)
        memcpy(key + at, parts[i], lengths[i]);
    hash_blake2b(feature->key, sizeof feature->key, key, len - 1);
    return 0;
}
