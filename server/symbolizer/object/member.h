/*
 * member.h - an object file by the path that a linker writes down, "lib.a(cart.o)" for one in an ar archive. Inside
 * symbols/ only.
 */
#ifndef MIRE_OBJECT_MEMBER_H
#define MIRE_OBJECT_MEMBER_H

#include "object/object.h"

/*
 * Map the file.
 *
 *   whole  unmapped by the caller once true was returned
 *   part   in it: the member, or all of it
 *
 * Returns false if there is no such file, or no such member in it.
 */
bool member_map(struct file_bytes *whole, struct file_bytes *part, const char *path);

#endif
