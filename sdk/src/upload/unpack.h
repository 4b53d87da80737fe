/*
 * unpack.h - the packed form of reports: the name by which HTTP knows it, and the way back. unpack_zstd.c, or on Apple's systems
 * unpack_apple.c; report/pack_*.c packs.
 */
#ifndef MIRE_UPLOAD_UNPACK_H
#define MIRE_UPLOAD_UNPACK_H

#include "mire/mire.h"

#include <stddef.h>

/* "Content-Encoding: ..." */
extern const char mire__unpack_header[];

/*
 * Unpack a body.
 *   json_out  to be freed with mire__free
 *   most      bytes that are unpacked at most
 * Returns MIRE_OK, MIRE_E_FORMAT (no such body, or a larger one), MIRE_E_MEMORY.
 */
enum mire_err mire__unpack(char **json_out, size_t *size_out, size_t most, const void *body, size_t size);

#endif
