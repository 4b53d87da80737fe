/*
 * mappings.h - which mapping gives a report's names of Java back. Inside fetch/ only.
 */
#ifndef MIRE_FETCH_MAPPINGS_H
#define MIRE_FETCH_MAPPINGS_H

#include "pipeline/stages.h"

/*
 * Give each image of Java in the item's report the id of its mapping: what the report says; else what R8 wrote in place
 * of a file's name (r8-map-id-...); else that of the app's version and build. 0 or a fault.
 */
int mappings_name(struct item *item);

#endif
