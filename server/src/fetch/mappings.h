/*
 * mappings.h - chooses the mapping for a report's names of Java.
 */
#ifndef MIRE_FETCH_MAPPINGS_H
#define MIRE_FETCH_MAPPINGS_H

#include "base/arena.h"
#include "model/report.h"

/*
 * Give each image of Java in the report the id of its mapping: the id in the report; otherwise the id that R8 wrote in
 * place of a file's name (r8-map-id-...); otherwise the id of the app's version and build. New images lie in the arena.
 * 0 or a fault.
 */
int mappings_name(struct report *report, struct arena *arena, int32_t app_id);

#endif
