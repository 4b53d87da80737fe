/*
 * suspect.h - whether a file that a commit changed is the file of a frame. Pure. Thread: any.
 *
 * A path of a frame and a path of the repository are the same file if their last two parts agree, or the only part of one
 * of them. A frame of Java has a file without folders, so the packages of its class are the folders:
 * com.acme.CartStore.lock in CartStore.java is com/acme/CartStore.java.
 */
#ifndef MIRE_MODEL_SUSPECT_H
#define MIRE_MODEL_SUSPECT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct suspect_frame {
    const char *function, *file;
};

/* The file of a frame with the folders that its function names; NULL: no memory. */
const char *suspect_path(struct arena *arena, const struct suspect_frame *frame);

/* Do the paths name one file? `len`: of `path`, the one in the repository. */
bool suspect_matches(const char *file, const char *path, size_t len);

#endif
