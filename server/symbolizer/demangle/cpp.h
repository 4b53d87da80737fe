/*
 * cpp.h - names of C++ in the Itanium ABI's mangling, and Rust's legacy names, which are such names with escapes.
 *
 * Read by libiberty. A mangled name may refer back to what it said before, so one of 300 bytes can stand for gigabytes
 * of text, or for a tree that takes hours to search though it prints nothing. So printing ends when there is enough of
 * it, and a name that could take long is given up after some processor time.
 */
#ifndef MIRE_DEMANGLE_CPP_H
#define MIRE_DEMANGLE_CPP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Demangle a name: "_ZN4shop4Cart3addEi" -> "shop::Cart::add(int)".
 *
 *   out      ended by a NUL unless 0 is returned; cut at room, and at 16 KiB
 *   len      bytes of the name; more than 8,192 are not read
 *   left_ns  processor time that names which could take long still have, of which one takes at most 0.1 s
 *
 * Returns bytes written, 0 if it is no such name or was given up.
 *
 * Where a name could take long the signal SIGRTMAX is used. Thread: any.
 */
size_t cpp_demangle(char *out, size_t room, const char *name, size_t len, uint64_t *left_ns);

#endif
