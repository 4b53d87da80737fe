/*
 * text.h - writes a document into a buffer, and compresses it; ids as text. Private to report/.
 */
#ifndef MIRE_REPORT_TEXT_H
#define MIRE_REPORT_TEXT_H

#include "base/base.h"
#include "store/store.h"
#include "wire/wire.h"

/*
 * Have `write` write a document, repeatedly with a larger buffer until it fits.
 *
 *   text_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_FULL (larger than MIRE_REPORT_JSON_MAX).
 */
typedef void mire__text_fn(struct wire *wire, const void *context);
enum mire_err mire__text_write(char **text_out, size_t *size_out, mire__text_fn *write, const void *context);

/*
 * Compress a document with zstd.
 *   body_out, size_out  as above
 * Returns MIRE_OK, MIRE_E_MEMORY.
 */
enum mire_err mire__text_pack(void **body_out, size_t *size_out, const char *text, size_t size);

/* "019aa1b2-c3d4-7e5f-8a6b-0123456789ab"; false if it is not a UUIDv7. */
bool mire__text_id(char out[MIRE_STORE_ID_LENGTH + 1], const uint8_t id[16]);

#endif
