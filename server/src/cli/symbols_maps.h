/*
 * symbols_maps.h - the BCSymbolMaps among a build's files (object/maps.h), put behind their debug files.
 */
#ifndef MIRE_CLI_SYMBOLS_MAPS_H
#define MIRE_CLI_SYMBOLS_MAPS_H

#include "object/maps.h"

/* Take an open file if it is a map, or a list that names one. False: it is neither. */
bool symbols_maps_take(struct maps *maps, const char *path, int fd);

/*
 * Write a debug file and its map to the end of `fd`.
 *
 *   at_out, len_out  where both lie there together
 *
 * Returns false, with a word on stderr, if the map cannot be read or `fd` not be written.
 */
bool symbols_maps_join(uint64_t *at_out, uint64_t *len_out, int fd, const uint8_t *bytes, size_t len,
                       const struct maps_row *map);

/* A file without a name, for symbols_maps_join; -1: there is none. */
int symbols_maps_scratch(void);

/*
 * The slice of a debug file in a dSYM, with its map from the archive (.xcarchive) around it, or from beside the dSYM.
 *
 *   id, id_len  UUID of the slice; id_len 0: the first one
 *
 * Returns a file to be closed by the caller; -1: it has no map.
 */
int symbols_maps_beside(const char *path, const uint8_t *id, size_t id_len);

#endif
