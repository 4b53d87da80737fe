/*
 * demangle.h - names of linkers as people read them.
 *
 * Thread: any.
 */
#ifndef MIRE_DEMANGLE_DEMANGLE_H
#define MIRE_DEMANGLE_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A name as people read it: those of C++, Rust, D and Swift demangled, blocks named by the function they are in, others
 * as they are. Swift's without types and modules, "closure #1 in Cart.add(_:)"; one that does not fit whole stays as it
 * is.
 *
 * Returns bytes written without the NUL; cuts at room, which is 1 or more.
 */
size_t symbol_demangle(char *out, size_t room, const char *name);

/*
 * The same for many names: those of C++ that take long do so together no longer than a hostile file shall hold anybody.
 *
 *   left_ns  processor time they still have: what one took, 0.1 s at most, is taken off; at 0 they stay as they are
 */
size_t symbol_demangle_within(char *out, size_t room, const char *name, uint64_t *left_ns);

#endif
