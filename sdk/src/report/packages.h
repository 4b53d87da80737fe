/*
 * packages.h - does a module come from the same source package, or the same build, as the program?
 *
 * evince's window is in libevview3.so.3, a library of Debian's package libevview3-3; both packages are built from the
 * source "evince", so the library's code is the app's. The source are the databases of dpkg, apk and rpm (sqlite, ndb, and
 * Berkeley DB of rpm 4.15 and older).
 *
 * If no database knows the program or the module, their ELF files are read. Package notes of one format and source
 * (.note.package), or a folder of the program's own in its search path (RUNPATH /usr/lib/shop), show the same build.
 *
 * The first call for a program reads the file lists of its packages, 5 to 8 ms of CPU time with dpkg, or looks each
 * module up in rpm's index, 0.1 to 0.3 ms a module. For a program that no package owns it reads all lists, once for
 * each new module. Results are cached for the last program.
 *
 * Thread: any; a call waits while another thread is in one.  Signal handler: no.
 */
#ifndef MIRE_REPORT_PACKAGES_H
#define MIRE_REPORT_PACKAGES_H

#include <stddef.h>

enum package_tie {
    MIRE_PACKAGE_UNKNOWN, /* there is no database, or neither is in a package; and the ELF files say nothing */
    MIRE_PACKAGE_OTHER,   /* of another source package; or of none, if the program is in a package */
    MIRE_PACKAGE_SAME,    /* of the same source package, or the same build */
};

/*
 * Find the tie of each of `count` modules to the program.
 *
 *   out      count ties
 *   root     directory above the databases; "" on a device
 *   program  path of its executable; "": not in a package
 *   paths    of the modules, as in /proc/self/maps
 */
void mire__packages_find(enum package_tie *out, const char *root, const char *program, const char *const *paths,
                         size_t count);

/* The same on this device; free the result by mire__free. NULL: out of memory. */
enum package_tie *mire__packages_ties(const char *program, const char *const *paths, size_t count);

#endif
