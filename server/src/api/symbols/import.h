/*
 * import.h - imports debug files: checks files that arrived and stores them for symbolication. Inside api/ only.
 *
 * No byte of a file is trusted. The child unpacks an archive and reads a debug file whole; this process only looks at
 * its header. That takes seconds, so it runs on the slow handler's thread, before a transaction begins.
 */
#ifndef MIRE_API_SYMBOLS_IMPORT_H
#define MIRE_API_SYMBOLS_IMPORT_H

#include "api/api.h"
#include "rows/symbol.h"

#define MIRE_IMPORT_NAME_MAX 255 /* bytes of a file's name */

/*
 * Import the whole content of an open file.
 *
 *   name    it was sent under
 *   upload  that the file was put together from: its pieces are taken as they are, and it is forgotten; NULL: none
 *
 * If the request has a version (and a build), the one mapping of Java names in the file belongs to that version of the
 * key's app.
 *
 * Fills the reply: 201 with the stored files and their damaged parts, or the defect of the file. MIRE_HTTP_DONE with
 * *imported_out, or a fault; MIRE_FAULT_RACED: the upload has changed meanwhile.
 */
int import_file(bool *imported_out, const struct api *api, const struct request *request, struct reply *reply, int fd,
                const char *name, const struct symbol_upload *upload);

/* Append a stored file to the reply's text. `defect`: its damaged parts, in ASCII. */
void import_put(struct text *out, const struct symbol_file *file);

#endif
