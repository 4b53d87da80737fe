/*
 * packages.c - which files the program's source package owns, by the databases of dpkg, apk and rpm; else, by the ELF
 * files, which were built together with the program.
 *
 *     dpkg   /var/lib/dpkg/info/NAME[:ARCH].list   the files of a package, one path a line
 *            /var/lib/dpkg/status                  Package: NAME, and Source: NAME [(VERSION)] where it is another
 *     apk    /lib/apk/db/installed                 P:name, o:origin, then F:directory and R:file for each file
 *     rpm    rpmdb.sqlite, or Packages.db and Index.db, or Packages, in /usr/lib/sysimage/rpm, /usr/share/rpm or /var/lib/rpm
 *
 * A path below /usr and the same without /usr are one: either may be in a list where /lib leads to /usr/lib.
 */
#include "report/packages.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "platform/holder.h"
#include "report/packages_db.h"

#include <stdio.h>
#include <string.h>

#define REMEMBERED 256

static struct {
    _Atomic uint32_t holder;
    char program[MIRE_PACKAGE_PATH_BYTES];
    size_t count;
    struct {
        uint64_t path; /* its hash */
        enum package_tie tie;
    } known[REMEMBERED];
} memory;

static bool recall(enum package_tie *out, const char *path)
{
    uint64_t hash = mire__hash_text(MIRE_HASH_START, path);

    for (size_t i = 0; i < memory.count; i++)
        if (memory.known[i].path == hash) {
            *out = memory.known[i].tie;
            return true;
        }
    return false;
}

static void remember(const char *path, enum package_tie tie)
{
    if (memory.count < REMEMBERED) {
        memory.known[memory.count].path = mire__hash_text(MIRE_HASH_START, path);
        memory.known[memory.count++].tie = tie;
    }
}

/* Find the ties of files by the databases, then by the ELF files. */
static void decide(enum package_tie *ties, const char *root, const char *program, struct package_file *files,
                   const char *const *paths, size_t count)
{
    struct package_file exe;
    bool owned;

    mire__package_file(&exe, program);
    owned = mire__packages_apk(root, &exe, files, count) || mire__packages_dpkg(root, &exe, files, count) ||
            mire__packages_rpm(root, &exe, files, count);
    for (size_t i = 0; i < count; i++) {
        ties[i] = owned || files[i].found ? MIRE_PACKAGE_OTHER : MIRE_PACKAGE_UNKNOWN;
        if (files[i].same)
            ties[i] = MIRE_PACKAGE_SAME;
    }
    mire__packages_elf(ties, root, program, files, paths, count);
}

/* Find the ties that are not cached, and cache them. */
static void learn(enum package_tie *out, const char *root, const char *program, const char *const *paths, size_t count)
{
    struct package_file *files = mire__calloc(count + 1, sizeof(*files));
    enum package_tie *ties = mire__calloc(count + 1, sizeof(*ties));
    const char **asked = mire__calloc(count + 1, sizeof(*asked));
    size_t *of = mire__calloc(count + 1, sizeof(*of)), n = 0;

    for (size_t i = 0; files && ties && asked && of && i < count; i++)
        if (!recall(&out[i], paths[i])) {
            of[n] = i;
            asked[n] = paths[i];
            mire__package_file(&files[n++], paths[i]);
        }
    if (n > 0)
        decide(ties, root, program, files, asked, n);
    for (size_t i = 0; i < n; i++) {
        out[of[i]] = ties[i];
        remember(asked[i], ties[i]);
    }
    mire__free(files);
    mire__free(ties);
    mire__free(asked);
    mire__free(of);
}

void mire__packages_find(enum package_tie *out, const char *root, const char *program, const char *const *paths,
                         size_t count)
{
    char about[MIRE_PACKAGE_PATH_BYTES];

    memset(out, 0, count * sizeof(*out));
    snprintf(about, sizeof(about), "%s:%s", root, program);
    if (!mire__holder_take(&memory.holder) || strcmp(memory.program, about) != 0) {
        memory.count = 0;
        memcpy(memory.program, about, sizeof(about));
    }
    learn(out, root, program, paths, count);
    mire__holder_leave(&memory.holder);
}

enum package_tie *mire__packages_ties(const char *program, const char *const *paths, size_t count)
{
    enum package_tie *ties = mire__calloc(count + 1, sizeof(*ties));

    if (ties)
        mire__packages_find(ties, "", program, paths, count);
    return ties;
}
