/*
 * splits.h - finds the split files (.dwo, .dwp) that a program's skeletons want. Inside symbols/ only.
 *
 *     child: convert --> wants: ids and paths --> splits_gather: uploaded ones, those on this machine --> child again
 *
 * What was not found is written down beside the cache, so that the cache is made anew once it has come.
 */
#ifndef MIRE_SYMBOLS_SPLITS_H
#define MIRE_SYMBOLS_SPLITS_H

#include "symbols/symbols.h"

/*
 * Gather what is wanted into one file: of each split file its length (u64), then its bytes.
 *
 *   fd_out    that file, closed by the caller; -1: nothing was found
 *   lack_out  what was not found
 *   wants     rows of struct convert_want, from its beginning
 *   beside    the program's path on this machine, if split files may be looked for there; "": only uploaded ones
 *
 * Returns 0, a fault of options->uploaded, or -1 if the system refuses.
 */
int splits_gather(int *fd_out, struct symbol_splits *lack_out, const struct symbols_options *options, int wants,
                  const char *beside);

/* Has a split file come that this cache lacks? 1, 0, or a fault. */
int splits_came(const struct symbols_options *options, const uint8_t *id, size_t id_len);

/* Read, or write down, what a cache lacks. */
void splits_lacking(struct symbol_splits *out, const struct symbols_options *options, const uint8_t *id, size_t id_len);
void splits_note(const struct symbols_options *options, const uint8_t *id, size_t id_len,
                 const struct symbol_splits *lack);

#endif
