/*
 * import.h - imports debug files: looks at files that came and stores them for symbolication. Inside api/ only.
 *
 * Nothing in a file is trusted: an archive is unpacked, and a debug file read whole, by the child; here a debug file is
 * only looked at. That takes seconds, so it is done on the thread for what is slow, and before a transaction is begun.
 */
#ifndef MIRE_API_SYMBOLS_IMPORT_H
#define MIRE_API_SYMBOLS_IMPORT_H

#include "api/api.h"
#include "rows/symbol.h"

#define MIRE_IMPORT_NAME_MAX 255 /* bytes of a file's name */

/*
 * Import all that an open file holds.
 *
 *   name    it was sent under
 *   upload  that the file was put together from: its pieces are taken as they are, and it is forgotten; NULL: none
 *
 * Where the request has a version (and a build), the one mapping of Java names in it is that of the key's app.
 *
 * Fills the reply: what was kept and what of it is damaged, 201, or what is wrong with the file. MIRE_HTTP_DONE,
 * *imported_out telling which, or a fault; MIRE_FAULT_RACED: the upload is not what it was.
 */
int import_file(bool *imported_out, const struct api *api, const struct request *request, struct reply *reply, int fd,
                const char *name, const struct symbol_upload *upload);

/* Add what is told of a kept file to the reply's text. `defect`: what is damaged, in ASCII. */
void import_put(struct text *out, const struct symbol_file *file);

#endif
