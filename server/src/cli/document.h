/*
 * document.h - a report from a file, as the server would see it: decoded, symbolicated, judged. Inside cli/ only.
 *
 * Names come from the modules themselves if this machine has them, and from /usr/lib/debug.
 */
#ifndef MIRE_CLI_DOCUMENT_H
#define MIRE_CLI_DOCUMENT_H

#include "base/arena.h"
#include "feature/feature.h"

struct cli_document {
    struct arena arena;
    struct report report;
    struct resolved doc;
    struct feature feature;
    struct rules *rules;
};

/*
 * Read a file whole: "-" is standard input.
 *
 *   command  for messages: "mire show"
 *
 * Returns the bytes, owned by the caller (free), with their number; NULL after printing the reason on stderr.
 */
char *cli_read_file(size_t *len_out, const char *command, const char *path);

/*
 * Make the document of a report: JSON, or that compressed by zstd or gzip.
 *
 *   out         cli_document_fini is due whatever is returned
 *   path        for messages
 *   rules_path  rules asked before the built-in ones; NULL for none
 *
 * Returns false after printing the reason on stderr.
 */
bool cli_document_make(struct cli_document *out, const char *command, const char *path, const char *bytes, size_t len,
                       const char *rules_path);
void cli_document_fini(struct cli_document *document);

#endif
