/*
 * rust.h - names of Rust functions (the legacy mangling, which is C++'s with escapes and a hash). Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_RUST_H
#define MIRE_SYMBOLS_RUST_H

#include <stdbool.h>

/*
 * Make a name that the C++ demangler wrote readable, in place; it only gets shorter. Names that do not end in a Rust
 * hash stay as they are, and false is returned.
 *
 *     "shop::_$LT$impl$u20$shop..Job$GT$::run::h00112233445566ff" -> "shop::<impl shop::Job>::run"
 */
bool rust_clean(char *name);

#endif
