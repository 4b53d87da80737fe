/*
 * pack.h - common parts of rule packs: text, lines and words. Inside feature/ only.
 *
 * Blank lines and lines that begin with # are skipped.
 */
#ifndef MIRE_FEATURE_PACK_H
#define MIRE_FEATURE_PACK_H

#include "feature/rules.h"

/* Fill the fault. Returns MIRE_RULES_WRONG. */
enum rules_outcome pack_wrong(struct rules_fault *fault, unsigned line, const char *text);

/* A writable copy of a pack's text, owned by the caller (free), or its defect. */
enum rules_outcome pack_copy(char **out, struct rules_fault *fault, const char *text, size_t len);

/* The text of a file, owned by the caller (free), unchecked; an unreadable file is MIRE_RULES_WRONG at line 0. */
enum rules_outcome pack_read(char **out, size_t *len_out, struct rules_fault *fault, const char *path);

/*
 * Call `take` for each other line, until a result is not MIRE_RULES_OK.
 *
 *   lines_out  how many lines the text has
 */
typedef enum rules_outcome pack_line_fn(void *pack, struct rules_fault *fault, char *line, unsigned number);
enum rules_outcome pack_lines(unsigned *lines_out, char *text, struct rules_fault *fault, pack_line_fn *take,
                              void *pack);

/* Cut the next word off a line; the rest stays. NULL: there is none. */
char *pack_word(char **line);

/* The rest of a line, without blanks around it. */
char *pack_rest(char *line);

#endif
