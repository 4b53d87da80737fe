/*
 * check.h - can a debug file be read whole? Whoever sends it is told at once: it is converted only when a report needs
 * it. Inside sandbox/ only, see contents_check.
 */
#ifndef MIRE_SANDBOX_CHECK_H
#define MIRE_SANDBOX_CHECK_H

#include "object/object.h"
#include "object/kinds.h"

/*
 * Read all of a file as converting it would: a second for 400 MB.
 *
 *   why  room for MIRE_SYMBOL_WHY bytes: what is damaged, and where that begins; "" if nothing is. Other numbers and
 *        names are not noticed
 *   depth_out  what the file tells of the code; UNKNOWN if it cannot be opened
 *
 * Returns whether it is whole. Any thread.
 */
bool symbols_check(char *why, enum symbol_depth *depth_out, const struct file_bytes *file);

#endif
