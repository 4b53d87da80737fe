/*
 * splits.h - finds the split files (.dwo, .dwp) of a program's skeleton units. Internal to symbolizer/.
 *
 *     child: convert --> wants: ids and paths --> splits_gather: uploaded ones, those on this machine --> child again
 *
 * The cache lists the split files that were missing, and the contents of those that were damaged. The module is
 * converted again when a missing file, or other contents of a damaged file, have arrived.
 */
#ifndef MIRE_SYMBOLIZER_SPLITS_H
#define MIRE_SYMBOLIZER_SPLITS_H

#include "cache/module.h"
#include "symbolizer/options.h"

/*
 * Copy the wanted split files into one file: a struct child_split for each, followed by its bytes.
 *
 *   fd_out    that file, closed by the caller; -1: no split file was found
 *   wants     rows of struct convert_want, from the file's beginning
 *   beside    the program's path on this machine, to search near it; "": use uploaded files only
 *
 * Returns 0, a fault of options->uploaded or options->contents_id, or -1 if a system call fails.
 */
int splits_gather(int *fd_out, const struct symbols_options *options, int wants, const char *beside);

/*
 * Returns 1 if a missing split or dwz file of the module has arrived, or a damaged one has been replaced by other
 * contents; otherwise 0, or a fault of the options' callbacks.
 */
int missing_files_came(const struct symbols_options *options, const struct module *module);

#endif
