/*
 * hidden.h - function names of a program that was built from bitcode. Its debug file contains `__hidden#12_` in place
 * of each name. The BCSymbolMap that Xcode keeps beside it has the names, one per line; number 12 is the thirteenth
 * line below the header line.
 *
 *     [ Mach-O file ][ map: "BCSymbolMap Version: 2.0\n", a name a line ][ mark 8 ][ bytes of the map 8 ]
 *
 * Mire appends the map to the debug file, so that both are sent, stored and read as one file. Nothing in a Mach-O file
 * points behind its end, so other readers ignore the map.
 *
 * Thread: any; a struct hidden is read-only after hidden_open.
 */
#ifndef MIRE_OBJECT_HIDDEN_H
#define MIRE_OBJECT_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_HIDDEN_TAIL 16 /* bytes after the map */
#define MIRE_HIDDEN_UUID 16

struct hidden;

/* Returns true if a file begins like a BCSymbolMap. */
bool hidden_is_map(const void *bytes, size_t len);

/* Write the tail that follows a map of map_len bytes. */
void hidden_tail(uint8_t out[MIRE_HIDDEN_TAIL], uint64_t map_len);

/*
 * Read the map at the end of a file.
 *
 *   out  freed by hidden_close; NULL if there is no map
 *
 * Returns NULL, or the problem (static).
 */
const char *hidden_open(struct hidden **out, const void *bytes, size_t len);
void hidden_close(struct hidden *hidden);

/* Get the name behind a hidden one. It is valid while `hidden` is open. Any other name, and a number that the map
 * lacks, is returned unchanged. */
const char *hidden_name(const struct hidden *hidden, const char *name);

/*
 * Read the UUID in the name of a debug file's BCSymbolMap: DBGOriginalUUID of the text property list beside the DWARF.
 *
 * Returns false if the list has none.
 */
bool hidden_original(uint8_t out[MIRE_HIDDEN_UUID], const void *plist, size_t len);

/* Parse the UUID at the start of a file name, "0123ABCD-...-....". Text after it is ignored. False: no UUID. */
bool hidden_uuid(uint8_t out[MIRE_HIDDEN_UUID], const char *text, size_t len);

#endif
