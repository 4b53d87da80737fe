/*
 * hidden.h - the names of a program that was built from bitcode. Its debug file has `__hidden#12_` for each; the
 * BCSymbolMap that Xcode keeps beside it has the names, one a line: of number 12 the thirteenth below the first line.
 *
 *     [ Mach-O file ][ map: "BCSymbolMap Version: 2.0\n", a name a line ][ mark 8 ][ bytes of the map 8 ]
 *
 * So a debug file and its map are one file here, sent, kept and read together. Nothing in a Mach-O file points behind
 * its end, so other readers see no difference.
 *
 * Thread: any; a struct hidden is only read after hidden_open.
 */
#ifndef MIRE_OBJECT_HIDDEN_H
#define MIRE_OBJECT_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_HIDDEN_TAIL 16 /* bytes behind the map */
#define MIRE_HIDDEN_UUID 16

struct hidden;

/* Does a file begin as such a map does? */
bool hidden_is_map(const void *bytes, size_t len);

/* What goes behind a map of so many bytes. */
void hidden_tail(uint8_t out[MIRE_HIDDEN_TAIL], uint64_t map_len);

/* The bytes of a map with its tail at the end of a file, 0: none is there. */
size_t hidden_len(const void *bytes, size_t len);

/*
 * Read the map at the end of a file.
 *
 *   out  freed by hidden_close; NULL if there is none
 *
 * Returns NULL, or what is wrong (static).
 */
const char *hidden_open(struct hidden **out, const void *bytes, size_t len);
void hidden_close(struct hidden *hidden);

/* The name behind a hidden one, as long as `hidden` is open; any other name, and one that the map lacks, as it is. */
const char *hidden_name(const struct hidden *hidden, const char *name);

/*
 * The UUID by which a debug file's map is called: DBGOriginalUUID of the property list of text beside the DWARF.
 *
 * Returns false if the list has none.
 */
bool hidden_original(uint8_t out[MIRE_HIDDEN_UUID], const void *plist, size_t len);

/* A UUID as files are called by, "0123ABCD-...-....", with anything behind it. */
bool hidden_uuid(uint8_t out[MIRE_HIDDEN_UUID], const char *text, size_t len);

#endif
