/*
 * rules.h - rule packs: the class of a function, by its name, its module's name, and conditions.
 *
 *     version 1
 *     # class    conditions         module        function
 *     lock                          libc.so*      pthread_mutex_lock
 *     dispatch                      *             g_main_context_dispatch
 *     system                        /usr/lib/x    *
 *     scene      file=*ui/pages*    shop          ~^on_.*_(opened|clicked)$
 *     system     lang=java          *             java.*
 *     idle                          *             g_main_context_poll
 *
 * One rule a line. A function has the class of the first matching rule. Patterns: pattern.h. A module pattern with a
 * slash is compared with the path, any other with the base name; the same holds for a file's pattern. Blanks separate
 * words; a function pattern may contain blanks. It is compared with the name without the return type of a template
 * function. Conditions, none or several: file=PATTERN; lang=NAME, a name of language.h (java: or kotlin); at=entry (in
 * all its stacks it is the outermost function) or at=leaf (the innermost).
 *
 *     class                             what it says
 *     app                               may be to blame
 *     scene                             the same, and is the scene: Caller2
 *     system runtime container          passed over on the way to who is to blame
 *     allocator dispatch                the same; dispatch hands events to their handlers: it bounds a loop
 *     lock io sleep wait ipc            the same, and says why a thread does not get on
 *     idle truncated meaningless        of the stacks it stands in (marks.h), not of the function: another rule says
 *     moment                            what that does
 *     own MODULE                        of a module, without a function: it is the app's, wherever it lies
 *     interpreter MODULE                the same: if a report has frames of its scripts, these may be to blame,
 *                                       and of its own functions none
 *
 * Packs have an order: an app's own rules, an operator's file, then the built-in ones, one a platform. Rules never
 * change after their creation: any number of threads may use them.
 */
#ifndef MIRE_FEATURE_RULES_H
#define MIRE_FEATURE_RULES_H

#include "base/arena.h"
#include "feature/language.h"
#include "model/role.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RULES_MAX      4096       /* rules of a pack */
#define MIRE_RULES_TEXT_MAX (1u << 20) /* bytes of its text */

enum rule_class {
    MIRE_CLASS_NONE, /* no rule fits */
    MIRE_CLASS_APP,
    MIRE_CLASS_SCENE,
    MIRE_CLASS_SYSTEM,
    MIRE_CLASS_RUNTIME,
    MIRE_CLASS_CONTAINER,
    MIRE_CLASS_ALLOCATOR,
    MIRE_CLASS_SLEEP,
    MIRE_CLASS_WAIT,
    MIRE_CLASS_IO,
    MIRE_CLASS_IPC,
    MIRE_CLASS_LOCK,
    MIRE_CLASS_DISPATCH,
    MIRE_CLASS_MADE, /* no rule of a pack, but names.h: the compiler's own code */
    MIRE_CLASS_IDLE, /* marks of stacks, from here on */
    MIRE_CLASS_TRUNCATED,
    MIRE_CLASS_MEANINGLESS,
    MIRE_CLASS_MOMENT,
    MIRE_CLASS_OWN, /* of a module, as the next */
    MIRE_CLASS_INTERPRETER,
    MIRE_CLASS_COUNT
};

/* May a function of that class be to blame? */
static inline bool rule_class_is_app(enum rule_class rule)
{
    return rule == MIRE_CLASS_APP || rule == MIRE_CLASS_SCENE;
}

/* Is it a class of whole modules? */
static inline bool rule_class_is_of_module(enum rule_class rule)
{
    return rule == MIRE_CLASS_OWN || rule == MIRE_CLASS_INTERPRETER;
}

struct rules;

struct rules_fault {
    unsigned line;    /* from 1; 0: the text as a whole */
    const char *pack; /* name of the pack it is in; static or the caller's */
    char text[240];   /* the defect, and its remedy */
};

enum rules_outcome { MIRE_RULES_OK = 0, MIRE_RULES_WRONG = 1, MIRE_RULES_NO_MEMORY = -1 };

struct rules_source {
    const char *name; /* for people; static */
    const char *text;
    size_t len;
    int version; /* 0: the text begins with "version NUMBER"; otherwise the version, and the text has none */
};

/* Read one pack alone. `text` is copied. On MIRE_RULES_WRONG the fault has line and reason. */
enum rules_outcome rules_parse(struct rules **out, struct rules_fault *fault, const char *text, size_t len);

/* Packs of the caller's, the first asked first, then the built-in ones. Texts are copied. */
enum rules_outcome rules_make(struct rules **out, struct rules_fault *fault, const struct rules_source *sources,
                              size_t count);

/* The same before the packs of `base`, which stays unchanged and may be freed before. */
enum rules_outcome rules_before(struct rules **out, struct rules_fault *fault, const struct rules_source *source,
                                const struct rules *base);

/* The built-in packs (server/rules). */
enum rules_outcome rules_builtin(struct rules **out, struct rules_fault *fault);

/*
 * The built-in packs, after the rules of a file; a NULL or empty path: the built-in ones alone. An unreadable file is
 * MIRE_RULES_WRONG at line 0.
 */
enum rules_outcome rules_load(struct rules **out, struct rules_fault *fault, const char *path);

void rules_free(struct rules *rules);

/* Sum of the versions of all packs, at least 1: it rises whenever answers change. */
int rules_version(const struct rules *rules);

/* A number that no other rules of this process have, not 0. */
uint64_t rules_number(const struct rules *rules);

/* The packs in their order. */
struct rules_pack {
    const char *name; /* "app", "extra", or the name of a built-in one's file in server/rules */
    int version;
    bool builtin;
    size_t rule_count;
    const char *text; /* unchanged */
};
size_t rules_pack_count(const struct rules *rules);
struct rules_pack rules_pack(const struct rules *rules, size_t at);

/* The rule that decides. The text goes with the rules; the pack's name is static. */
struct rule_found {
    enum rule_class class;
    const char *text; /* as written, with one blank between words: "lock libc.so* pthread_mutex_lock" */
    unsigned line;    /* of its pack */
    const char *pack;
    int version;  /* of its pack */
    bool builtin; /* of a built-in pack */
    bool by_path; /* a built-in rule that names a folder of modules, and neither module nor function */
};

/* A module, matched once: the module patterns that match it, and the rules of any function that remain to try. */
struct rules_module {
    uint64_t *fits; /* bits, one for each distinct module pattern */
    struct rules_any {
        uint64_t pairs; /* of its function (pattern.h) */
        uint32_t number;
    } * any; /* rising */
    size_t any_count;
    bool own;                      /* a rule calls it the app's */
    struct rule_found interpreter; /* the rule that calls it an interpreter; class NONE without one */
};

/*
 *   path  of the module; "" if the function lies in none
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int rules_module(struct rules_module *out, struct arena *arena, const struct rules *rules, const char *path);

/* The subject of a query. Texts are "" if unknown. */
struct rules_subject {
    const struct rules_module *module;
    const char *function;
    const char *file;
    enum language language;
    bool entry, leaf; /* in all its stacks it is the outermost, the innermost function */
};

/*
 * Find the rule for the class of a function, and the first rule that marks its stacks; class NONE without one. NULL:
 * not wanted.
 */
void rules_find(struct rule_found *out, struct rule_found *mark_out, const struct rules *rules,
                const struct rules_subject *subject);

/* Class of a function by the names alone, for tests and tools: rules_module and rules_find in one, slow. */
enum rule_class rules_classify(const struct rules *rules, const char *path, const char *function);

/* Name of a class as in a pack, static; "" for MIRE_CLASS_NONE. */
const char *rule_class_name(enum rule_class rule);

/* The role of a class in a stack. */
enum role rule_role(enum rule_class rule);

#endif
