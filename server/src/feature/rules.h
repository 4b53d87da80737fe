/*
 * rules.h - rule packs: what kind of work a function does, by the names of its module and itself.
 *
 *     version 1
 *     # class    module        function
 *     lock       libc.so*      pthread_mutex_lock
 *     dispatch   *             g_main_context_dispatch
 *     system     /usr/lib/x   *
 *
 * One rule a line, the first that fits decides. * stands for any characters, ? for one. A module pattern with a slash
 * is compared with the path, any other with the base name. Blanks separate; a function pattern may hold blanks. It is
 * compared with the name without the type that a template function returns.
 */
#ifndef MIRE_FEATURE_RULES_H
#define MIRE_FEATURE_RULES_H

#include "model/role.h"

#include <stdbool.h>
#include <stddef.h>

#define MIRE_RULES_MAX      4096       /* rules of a pack */
#define MIRE_RULES_TEXT_MAX (1u << 20) /* bytes of its text */

enum rule_class {
    MIRE_CLASS_NONE, /* no rule fits */
    MIRE_CLASS_APP,
    MIRE_CLASS_SYSTEM,
    MIRE_CLASS_RUNTIME,
    MIRE_CLASS_CONTAINER,
    MIRE_CLASS_ALLOCATOR,
    MIRE_CLASS_SLEEP,
    MIRE_CLASS_WAIT,
    MIRE_CLASS_IO,
    MIRE_CLASS_LOCK,
    MIRE_CLASS_DISPATCH,
    MIRE_CLASS_COUNT
};

struct rules;

struct rules_fault {
    unsigned line; /* from 1 */
    char text[120];
};

enum rules_outcome { MIRE_RULES_OK = 0, MIRE_RULES_WRONG = 1, MIRE_RULES_NO_MEMORY = -1 };

/* Read a pack. `text` is copied. On MIRE_RULES_WRONG the fault tells line and reason. */
enum rules_outcome rules_parse(struct rules **out, struct rules_fault *fault, const char *text, size_t len);

/* The pack built into the program (server/rules/linux-c.rules). */
enum rules_outcome rules_builtin(struct rules **out, struct rules_fault *fault);

/*
 * The built-in pack, with the rules of a file asked before its own; a NULL or empty path: the built-in one alone. A
 * file that cannot be read is MIRE_RULES_WRONG at line 0.
 */
enum rules_outcome rules_load(struct rules **out, struct rules_fault *fault, const char *path);

void rules_free(struct rules *rules);

/* Version the pack gives itself, at least 1, plus that of the file before it. It rises whenever answers change. */
int rules_version(const struct rules *rules);

/*
 * Class of a function.
 *
 *   path      of its module; "" if it lies in none
 *   function  its name; "" if unknown
 */
enum rule_class rules_classify(const struct rules *rules, const char *path, const char *function);

/* The rule that decides. Texts are the pack's. */
struct rule_found {
    enum rule_class class;
    const char *module;
    const char *function;
    unsigned line; /* of its file */
    bool builtin;
    int version; /* of its own pack */
};

/* As rules_classify, with the rule; false if none fits. */
bool rules_find(struct rule_found *out, const struct rules *rules, const char *path, const char *function);

/* Name of a class as in a pack, static; "" for MIRE_CLASS_NONE. */
const char *rule_class_name(enum rule_class rule);

/* What a class looks like in a stack. */
enum role rule_role(enum rule_class rule);

/* Whether text fits a pattern. */
bool glob_match(const char *pattern, const char *text);

#endif
