/*
 * packages_db.h - the package databases of dpkg, apk and rpm, and the ELF files themselves. Private to report/.
 */
#ifndef MIRE_REPORT_PACKAGES_DB_H
#define MIRE_REPORT_PACKAGES_DB_H

#include "report/packages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_PACKAGE_PATH_BYTES 1024

struct package_file {
    const char *path; /* without a leading /usr */
    size_t length;
    bool found; /* a package owns it */
    bool same;  /* the program's source package does */
};

/* A file that is asked about; `path` is borrowed. */
void mire__package_file(struct package_file *out, const char *path);

/* Does some package own the program? Then `same` of each file is filled in; otherwise `found`. */
bool mire__packages_dpkg(const char *root, const struct package_file *program, struct package_file *files,
                         size_t count);
bool mire__packages_apk(const char *root, const struct package_file *program, struct package_file *files, size_t count);
bool mire__packages_rpm(const char *root, const struct package_file *program, struct package_file *files, size_t count);

/*
 * Find the ties that are still unknown by the package notes and the program's search path in the ELF files.
 *
 *   ties   of each of `count` files; filled in
 *   paths  of the files, as in /proc/self/maps
 */
void mire__packages_elf(enum package_tie *ties, const char *root, const char *program, const struct package_file *files,
                        const char *const *paths, size_t count);

/* A whole file, ended by a zero byte; freed by mire__free. NULL: there is none, or no memory. */
char *mire__package_text(size_t *size_out, int folder, const char *name);

#endif
