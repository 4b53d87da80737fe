/*
 * hprof.h - a heap dump of a Java machine or of Android (hprof 1.0.1 to 1.0.3) as a memory report: the bytes of objects
 * by class, and the objects that keep them alive.
 *
 *     categories  the classes; objects and bytes of each, headers and padding included
 *     stacks      ways in the tree of dominators, by class: the innermost frame is the class, outwards is what keeps it
 *                 alive alone, up to the root. All objects without which an object would be garbage are "below" it, so a
 *                 frame's bytes with all below it are what it retains.
 *
 * The file is read several times as a stream, and is never in memory. The data about each object lie in a mapped
 * temporary file. Its pages are given back whenever the process holds more than a budget.
 *
 * References of java.lang.ref.WeakReference and PhantomReference (and Android's finalizers) do not keep an object
 * alive; soft references do. Locals belong to the object of their thread if the dump names it.
 */
#ifndef MIRE_HPROF_HPROF_H
#define MIRE_HPROF_HPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hprof_fault {
    uint64_t position; /* byte of the file */
    char text[160];
};

/* Does a file begin like a heap dump does? */
bool hprof_is(const void *bytes, size_t len);

/*
 * Make the report.
 *
 *   text_out  Mire's wire JSON, owned by the caller (free)
 *   fd        a file that can be read from its beginning more than once; stays the caller's
 *   dir       for the temporary file; NULL: $TMPDIR, otherwise /var/tmp
 *
 * False: it is no such dump, or a damaged one; `fault` has the reason. Thread: one at a time.
 */
bool hprof_report(char **text_out, size_t *len_out, struct hprof_fault *fault, int fd, const char *dir);

#endif
