/*
 * splits.h - finds the split files (.dwo, .dwp) that a program's skeletons want. Inside symbolizer/ only.
 *
 *     child: convert --> wants: ids and paths --> splits_gather: uploaded ones, those on this machine --> child again
 *
 * The cache tells what was not found, and which contents of what was damaged, so that it is made anew once the file has
 * come, or comes with others.
 */
#ifndef MIRE_SYMBOLIZER_SPLITS_H
#define MIRE_SYMBOLIZER_SPLITS_H

#include "symbolizer/symbolizer.h"

/*
 * Gather what is wanted into one file: of each split file a struct child_split, then its bytes.
 *
 *   fd_out    that file, closed by the caller; -1: nothing was found
 *   wants     rows of struct convert_want, from its beginning
 *   beside    the program's path on this machine, if split files may be looked for there; "": only uploaded ones
 *
 * Returns 0, a fault of options->uploaded, or -1 if the system refuses.
 */
int splits_gather(int *fd_out, const struct symbols_options *options, int wants, const char *beside);

/*
 * Has a file come that the module lacks, be it a split one or of dwz, or one with other contents than the damaged one?
 * 1, 0, or a fault.
 */
int missing_files_came(const struct symbols_options *options, const struct module *module);

#endif
