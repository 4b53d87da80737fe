/*
 * cpp.h - demangles C++ names of the Itanium ABI, and Rust's legacy names, which are C++ names with escapes. Internal
 * to demangle/.
 *
 * libiberty reads the names. A mangled name may refer back to its own parts, so a name of 300 bytes may expand to
 * gigabytes of text, or to a tree that takes hours to search without output. Printing therefore ends at a limit of the
 * output, and a potentially slow name is given up after a limit of processor time.
 */
#ifndef MIRE_DEMANGLE_CPP_H
#define MIRE_DEMANGLE_CPP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Demangle a name: "_ZN4shop4Cart3addEi" -> "shop::Cart::add(int)".
 *
 *   out      ended by a NUL unless 0 is returned; cut at room, and at 16 KiB
 *   len      bytes of the name; a name above 8,192 is rejected
 *   left_ns  processor time left for potentially slow names, reduced by the time used; one name takes at most 0.1 s
 *
 * Returns bytes written; 0 if the text is no such name, or was given up.
 *
 * Uses the signal SIGRTMAX for potentially slow names. Thread: any.
 */
size_t cpp_demangle(char *out, size_t room, const char *name, size_t len, uint64_t *left_ns);

#endif
