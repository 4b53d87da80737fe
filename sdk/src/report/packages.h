/*
 * packages.h - does a module come from the same source package as the program?
 *
 * evince's window is in libevview3.so.3, a library of Debian's package libevview3-3; both packages are built from the
 * source "evince", so the library's code is the app's. The databases of dpkg, apk and rpm tell so (rpm's in the formats
 * sqlite and ndb; that of Berkeley DB, which rpm 4.15 and older write, is not read).
 *
 * The first question about a program reads the file lists of its packages, 5 to 8 ms of CPU time with dpkg, or looks
 * each module up in rpm's index, 0.1 to 0.3 ms a module; of a program that no package owns, all lists, once for each
 * new module. Answers are remembered for the program asked about last.
 *
 * Thread: any; a question waits while another thread asks.  Signal handler: no.
 */
#ifndef MIRE_REPORT_PACKAGES_H
#define MIRE_REPORT_PACKAGES_H

#include <stddef.h>

enum package_tie {
    MIRE_PACKAGE_UNKNOWN, /* there is no database, or it owns neither */
    MIRE_PACKAGE_OTHER,   /* another source package's, or nobody's beside a program of a package */
    MIRE_PACKAGE_SAME,
};

/*
 * Find the tie of each of `count` modules to the program.
 *
 *   out      count ties
 *   root     directory that the databases lie below; "" on a device
 *   program  path of its executable; "" is no program of a package
 *   paths    of the modules, as the kernel has them mapped
 */
void mire__packages_find(enum package_tie *out, const char *root, const char *program, const char *const *paths,
                         size_t count);

/* The same on this device, in memory that mire__free frees; NULL: there is none. */
enum package_tie *mire__packages_ties(const char *program, const char *const *paths, size_t count);

#endif
