/*
 * rust.h - demangles names of Rust functions in both manglings: the legacy one, which is C++'s with escapes and a hash,
 * and version 0, which is Rust's own. Internal to demangle/.
 */
#ifndef MIRE_DEMANGLE_RUST_H
#define MIRE_DEMANGLE_RUST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make the C++ demangler's output for a legacy name readable, in place; it only gets shorter. A name without a Rust
 * hash at its end is left unchanged, and false is returned.
 *
 *     "shop::_$LT$impl$u20$shop..Job$GT$::run::h00112233445566ff" -> "shop::<impl shop::Job>::run"
 */
bool rust_clean(char *name);

/* Length of the suffix that compilers add to a legacy name whose code they split: ".cold", ".part.0". 0 for other
 * names. */
size_t rust_suffix(const char *name, size_t len);

/*
 * Demangle a name of version 0: "_RNvC4shop3run" -> "shop::run".
 *
 *   out   ended by a NUL unless 0 is returned; cut at room
 *   len   bytes of the name, without the linker's suffix after a dot
 *
 * Returns bytes written; 0 if the text is no such name.
 */
size_t rust_v0(char *out, size_t room, const char *name, size_t len);

#endif
