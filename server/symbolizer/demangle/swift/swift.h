/*
 * swift.h - names of Swift functions. Inside demangle/swift/ only.
 *
 *     $s, $S, $e, _T0, with one more _ on Apple's systems   read.c and what it calls: operators in postfix order,
 *                                                           a stack of nodes
 *     _T, Swift 3 and before                                old.c: prefix order, the same nodes
 *                                            nodes -------> print.c and what it calls
 *
 * The grammar is that of docs/ABI/Mangling.rst in Swift's repository. Substitutions make a graph of the nodes, so a
 * short name can stand for endless text: nodes, depth, steps of printing and bytes written are bounded, and a name that
 * meets a bound is taken for none.
 *
 * Thread: any; nothing is kept from call to call.
 */
#ifndef MIRE_DEMANGLE_SWIFT_SWIFT_H
#define MIRE_DEMANGLE_SWIFT_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

enum swift_style {
    SWIFT_SHORT, /* for people: no modules, types, thunks' details: "closure #1 in Cart.add(_:)" */
    SWIFT_FULL   /* everything, as swift-demangle writes it without options */
};

#define MIRE_SWIFT_NAME_MAX 8192 /* bytes of a mangled name: the longest of Apple's frameworks have some 4,000 */

/*
 * Demangle a name.
 *
 *   out   room for `room` bytes; ended by a NUL unless 0 is returned, else what is in it has no meaning
 *   name  `len` bytes
 *
 * Returns bytes written without the NUL; 0 if it is no name of Swift's, one that cannot be read whole, or one that does
 * not fit into `room` whole: a name is never written in part.
 */
size_t swift_demangle(char *out, size_t room, const char *name, size_t len, enum swift_style style);

#endif
