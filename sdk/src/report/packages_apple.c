/*
 * packages_apple.c - see packages.h: an app's code is in its bundle, "Shop.app", with its frameworks and extensions.
 */
#include "report/packages.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

#define BUNDLE  ".app/"
#define PRIVATE "/private"

/* Two names of one folder: /var is a link to /private/var. */
static const char *without_private(const char *path)
{
    return strncmp(path, PRIVATE "/", sizeof(PRIVATE)) == 0 ? path + sizeof(PRIVATE) - 1 : path;
}

/* Bytes of the path of the outermost bundle; 0: the program is in none. */
static size_t bundle_of(const char *program)
{
    const char *end = strstr(program, BUNDLE);

    return end ? (size_t)(end - program) + sizeof(BUNDLE) - 1 : 0;
}

void mire__packages_find(enum package_tie *out, const char *root, const char *program, const char *const *paths,
                         size_t count)
{
    size_t length;

    (void)root;
    program = without_private(program);
    length = bundle_of(program);
    for (size_t i = 0; i < count; i++) {
        const char *path = without_private(paths[i]);
        bool same = strcmp(path, program) == 0 || (length > 0 && strncmp(path, program, length) == 0);

        if (same)
            out[i] = MIRE_PACKAGE_SAME;
        else
            out[i] = length > 0 ? MIRE_PACKAGE_OTHER : MIRE_PACKAGE_UNKNOWN;
    }
}

enum package_tie *mire__packages_ties(const char *program, const char *const *paths, size_t count)
{
    enum package_tie *ties = mire__calloc(count + 1, sizeof(*ties));

    if (ties)
        mire__packages_find(ties, "", program, paths, count);
    return ties;
}
