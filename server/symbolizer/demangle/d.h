/*
 * d.h - names of D functions. Inside demangle/ only.
 */
#ifndef MIRE_DEMANGLE_D_H
#define MIRE_DEMANGLE_D_H

#include <stddef.h>

/*
 * Demangle a name: "_D4shop4Cart3addMFiZv" -> "shop.Cart.add(int)".
 *
 *   out   room for `room` bytes; ended by a NUL unless 0 is returned, else what is in it has no meaning
 *   name  `len` bytes
 *
 * Returns bytes written without the NUL; 0 if it is no such name, cannot be read whole, or does not fit whole.
 */
size_t d_demangle(char *out, size_t room, const char *name, size_t len);

#endif
