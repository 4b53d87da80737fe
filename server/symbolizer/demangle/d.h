/*
 * d.h - demangles names of D functions. Internal to demangle/.
 */
#ifndef MIRE_DEMANGLE_D_H
#define MIRE_DEMANGLE_D_H

#include <stddef.h>

/*
 * Demangle a name: "_D4shop4Cart3addMFiZv" -> "shop.Cart.add(int)".
 *
 *   out   room for `room` bytes; ended by a NUL, undefined if 0 is returned
 *   name  `len` bytes
 *
 * Returns bytes written without the NUL; 0 if the text is no such name, cannot be read completely, or does not fit.
 * Thread: any.
 */
size_t d_demangle(char *out, size_t room, const char *name, size_t len);

#endif
