/*
 * frames.h - a stack as one text, as issue_tree.frames keeps it: innermost first, a frame a line.
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

#define MIRE_FRAMES_MAX 64 /* frames that are kept, from the innermost */

struct frame_line {
    enum role role;
    const char *function, *image;
};

/* The stack from a node to the root; tabs and line ends inside names become spaces. NULL: no memory. */
char *frames_format(struct arena *arena, const struct resolved *doc, uint32_t node);

/*
 * Read it back; a line that is none is left out, and what is more than MIRE_FRAMES_MAX.
 *
 *   out  in the arena, with its texts
 *
 * Returns 0 or MIRE_FAULT_MEMORY.
 */
int frames_parse(struct frame_line **out, size_t *count, struct arena *arena, const char *text);

#endif
