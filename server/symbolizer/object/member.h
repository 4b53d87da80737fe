/*
 * member.h - maps an object file by the path that a linker records: "cart.o", or "lib.a(cart.o)" for a member of an ar
 * archive. Internal to symbolizer/.
 */
#ifndef MIRE_OBJECT_MEMBER_H
#define MIRE_OBJECT_MEMBER_H

#include "object/object.h"

/*
 * Map the file.
 *
 *   whole  the mapped file, unmapped by the caller if true is returned
 *   part   the member inside `whole`, or all of it
 *
 * Returns false if there is no such file, or no such member.
 */
bool member_map(struct file_bytes *whole, struct file_bytes *part, const char *path);

#endif
