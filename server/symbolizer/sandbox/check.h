/*
 * check.h - checks whether a debug file can be read completely. The sender gets the result at once; the conversion
 * comes later, when a report needs the file. Internal to sandbox/; contents_check is the door.
 */
#ifndef MIRE_SANDBOX_CHECK_H
#define MIRE_SANDBOX_CHECK_H

#include "object/object.h"
#include "object/kinds.h"

/*
 * Read a file completely, as a conversion would: about a second for 400 MB.
 *
 *   why        room for MIRE_SYMBOL_WHY bytes: the damage and its position; "" if there is none. Changed bytes that
 *              still decode are not detected
 *   depth_out  depth of the file; UNKNOWN if it cannot be opened
 *
 * Returns true if the file is whole. Thread: any.
 */
bool symbols_check(char *why, enum symbol_depth *depth_out, const struct file_bytes *file);

#endif
