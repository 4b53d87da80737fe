/*
 * demangle.h - makes linkers' names readable.
 *
 * Thread: any.
 */
#ifndef MIRE_DEMANGLE_DEMANGLE_H
#define MIRE_DEMANGLE_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Make a name readable. Names of C++, Rust, D and Swift are demangled, blocks get the name of the enclosing function,
 * and other names are copied. Swift names have no types and modules, "closure #1 in Cart.add(_:)"; a Swift name that
 * does not fit is copied mangled.
 *
 * Returns bytes written without the NUL. The output is cut at room, which is 1 or more.
 */
size_t symbol_demangle(char *out, size_t room, const char *name);

/*
 * The same with a limit of processor time for all slow C++ names together.
 *
 *   left_ns  processor time left, reduced by the time used, at most 0.1 s per name; at 0 slow names are copied mangled
 */
size_t symbol_demangle_within(char *out, size_t room, const char *name, uint64_t *left_ns);

#endif
