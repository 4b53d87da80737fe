/*
 * owners.h - the owners of a function: rules of an app, in the syntax of CODEOWNERS files.
 *
 *     *.kt                      @kim                     files, by patterns as in .gitignore
 *     /app/src/cart/            @acme/cart ana@acme.example
 *     function:com.acme.pay.*   @lee                     functions; * is any text, ? one character
 *     module:libpay*.so         @lee                     modules
 *     [Payments] @lee                                    GitLab's sections: owners of lines without any
 *
 * The last line that fits decides; one without owners says that there is none. Pure.
 */
#ifndef MIRE_MODEL_OWNERS_H
#define MIRE_MODEL_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#define MIRE_OWNERS_MAX         16    /* of a line; further ones are not read */
#define MIRE_OWNERS_PATTERN_MAX 500   /* bytes */
#define MIRE_OWNERS_TEXT_MAX    65536 /* bytes of the rules */

struct owners_place {
    const char *function, *module;
    const char *location; /* file:line, or "" */
    const char *root;     /* folder of the build, taken off the file; or "" */
};

struct owner {
    const char *name; /* in the rules: @kim, @acme/cart, ana@acme.example */
    size_t len;
};

struct owners_found {
    unsigned line;             /* in the rules, from 1; 0: none fits */
    const char *pattern;       /* in the rules */
    size_t pattern_len, count; /* count 0: the line says that there is none */
    struct owner owners[MIRE_OWNERS_MAX];
};

/* The owners of a place. */
void owners_find(struct owners_found *out, const char *rules, const struct owners_place *place);

/* The first line that is no rule, from 1, with the reason, a static text; 0: all are. */
unsigned owners_wrong(const char **why_out, const char *rules);

/* Is an owner the account of this name: @kim, @acme/kim or kim@acme.example is kim, ana@acme.example is that too? Letters
 * may be small or large. */
bool owner_is(const struct owner *owner, const char *account);

#endif
