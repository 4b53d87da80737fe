/* mapping.h - one line of /proc/self/maps. Private to platform/. */
#ifndef MIRE_PLATFORM_MAPPING_H
#define MIRE_PLATFORM_MAPPING_H

#include "platform/platform.h"

/* "start-end rwxp offset dev inode   path", ended by a zero byte; the path is borrowed. False: it is no such line. */
bool mire__mapping_read(struct mapping *out, char *line);

/* The descriptor of /proc/self/maps that this thread of the library keeps open (proc.c); -1: none. */
long mire__proc_kept_maps(void);

#endif
