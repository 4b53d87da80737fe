/*
 * version.h - the natural order of versions: runs of digits count as numbers, so 7.0.9 < 7.0.10. Pure; thread: any.
 */
#ifndef MIRE_MODEL_VERSION_H
#define MIRE_MODEL_VERSION_H

/* Below, at or above 0, as strcmp. 0 only for equal texts. */
int version_compare(const char *a, const char *b);

#endif
