/*
 * frames.h - a stack as one text, in the form of issue_tree.frames: innermost first, a frame a line.
 *
 *     app<TAB>keysCommand<TAB>redis-server
 *     dispatch<TAB>aeProcessEvents<TAB>redis-server
 *
 * Pure; thread: any.
 */
#ifndef MIRE_MODEL_FRAMES_H
#define MIRE_MODEL_FRAMES_H

#include "base/arena.h"
#include "model/resolved.h"

#define MIRE_FRAMES_MAX 64 /* kept frames, from the innermost */

struct frame_line {
    enum role role;
    const char *function, *image;
};

/* The stack from a node to the root; tabs and line ends inside names become spaces. NULL: no memory. */
char *frames_format(struct arena *arena, const struct resolved *doc, uint32_t node);

/*
 * Read the text back. A malformed line is left out, and lines beyond MIRE_FRAMES_MAX are.
 *
 *   out  in the arena, with its texts
 *
 * Returns 0 or MIRE_FAULT_MEMORY.
 */
int frames_parse(struct frame_line **out, size_t *count, struct arena *arena, const char *text);

/* "libc.so.6+0x10", the name of a function without a symbol; without printf, for a report has hundreds. NULL: no memory. */
const char *frames_bare(struct arena *arena, const char *image, uint64_t offset);

#endif
