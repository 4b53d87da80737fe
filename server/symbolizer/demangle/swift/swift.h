/*
 * swift.h - demangles names of Swift functions. Internal to demangle/; used by cache/merge.c too.
 *
 *     $s, $S, $e, _T0, with one more _ on Apple's systems   read.c and its operators: postfix order, a stack of
 *                                                           nodes
 *     _T, Swift 3 and before                                old.c: prefix order, the same nodes
 *                                            nodes -------> print.c and its helpers
 *
 * The grammar is that of docs/ABI/Mangling.rst in Swift's repository. Substitutions make a graph of the nodes, so a
 * short name may expand without end. Nodes, depth, printing steps and bytes written are limited; a name that reaches a
 * limit is rejected.
 *
 * Thread: any; a call keeps no state.
 */
#ifndef MIRE_DEMANGLE_SWIFT_SWIFT_H
#define MIRE_DEMANGLE_SWIFT_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

enum swift_style {
    SWIFT_SHORT, /* for people, without modules, types, and details of thunks: "closure #1 in Cart.add(_:)" */
    SWIFT_FULL   /* complete, as swift-demangle writes it without options */
};

#define MIRE_SWIFT_NAME_MAX 8192 /* limit of a mangled name, bytes: the longest of Apple's frameworks have some 4,000 */

/*
 * Demangle a name.
 *
 *   out   room for `room` bytes; ended by a NUL, undefined if 0 is returned
 *   name  `len` bytes
 *
 * Returns bytes written without the NUL; 0 if the text is no Swift name, cannot be read completely, or does not fit: a
 * name is never written in part.
 */
size_t swift_demangle(char *out, size_t room, const char *name, size_t len, enum swift_style style);

#endif
