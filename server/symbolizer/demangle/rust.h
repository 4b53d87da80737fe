/*
 * rust.h - names of Rust functions, in the legacy mangling, which is C++'s with escapes and a hash, and in that of
 * version 0, which is Rust's own. Inside demangle/ only.
 */
#ifndef MIRE_DEMANGLE_RUST_H
#define MIRE_DEMANGLE_RUST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make a name that the C++ demangler wrote readable, in place; it only gets shorter. Names that do not end in a Rust
 * hash stay as they are, and false is returned.
 *
 *     "shop::_$LT$impl$u20$shop..Job$GT$::run::h00112233445566ff" -> "shop::<impl shop::Job>::run"
 */
bool rust_clean(char *name);

/* Bytes behind a legacy name that compilers add where they put a part of it elsewhere: ".cold", ".part.0"; 0 of others.
 */
size_t rust_suffix(const char *name, size_t len);

/*
 * Demangle a name of version 0: "_RNvC4shop3run" -> "shop::run".
 *
 *   out   ended by a NUL unless 0 is returned; cut at room
 *   len   bytes of the name, without what linkers add behind a dot
 *
 * Returns bytes written, 0 if it is no such name.
 */
size_t rust_v0(char *out, size_t room, const char *name, size_t len);

#endif
