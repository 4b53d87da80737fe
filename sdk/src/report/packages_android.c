/* packages_android.c - see packages.h: an app's own libraries lie in the folders and archives that the system unpacks for it;
 * all other libraries are the device's. There is no database of packages that an app may read. */
#include "report/packages.h"

#include "base/alloc.h"
#include "base/base.h"

#include <string.h>

static enum package_tie tie_of(const char *path)
{
    static const char *const apps[] = {"/data/", "/mnt/expand/"};
    static const char *const systems[] = {"/apex/", "/system/", "/system_ext/", "/vendor/", "/product/", "/odm/"};

    for (size_t i = 0; i < MIRE_COUNT(apps); i++)
        if (strncmp(path, apps[i], strlen(apps[i])) == 0)
            return MIRE_PACKAGE_SAME;
    for (size_t i = 0; i < MIRE_COUNT(systems); i++)
        if (strncmp(path, systems[i], strlen(systems[i])) == 0)
            return MIRE_PACKAGE_OTHER;
    return MIRE_PACKAGE_UNKNOWN;
}

void mire__packages_find(enum package_tie *out, const char *root, const char *program, const char *const *paths,
                         size_t count)
{
    (void)root;
    (void)program;
    for (size_t i = 0; i < count; i++)
        out[i] = tie_of(paths[i]);
}

enum package_tie *mire__packages_ties(const char *program, const char *const *paths, size_t count)
{
    enum package_tie *ties = mire__calloc(count + 1, sizeof(*ties));

    if (ties)
        mire__packages_find(ties, "", program, paths, count);
    return ties;
}
