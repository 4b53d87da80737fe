/*
 * check.h - can a debug file be read whole? For whoever sends it: the server converts it only when a report needs it.
 */
#ifndef MIRE_SYMBOLS_CHECK_H
#define MIRE_SYMBOLS_CHECK_H

#include "object/object.h"

/*
 * Read all of a file as converting it would: a second for 300 MB.
 *
 *   why  room for MIRE_SYMBOL_WHY bytes: what is damaged, "" if nothing is; other numbers and names are not noticed
 *
 * Returns whether it is whole. Any thread.
 */
bool symbols_check(char *why, const struct file_bytes *file);

#endif
