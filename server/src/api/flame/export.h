/*
 * export.h - a flame graph for other tools: collapsed stacks (flamegraph.pl), speedscope, pprof, and a picture. Pure.
 * Inside api/ only.
 */
#ifndef MIRE_API_EXPORT_H
#define MIRE_API_EXPORT_H

#include "api/flame/flame.h"
#include "base/text.h"

struct flame_export {
    const struct flame_view *view;
    const char *title; /* "I-12 keysCommand" */
    const char *unit;  /* ms, bytes or objects */
};

/* One line a stack: its functions from the outermost one with ; between, a space, and the whole units of its own. */
void flame_folded(struct text *out, const struct flame_export *e);

/* https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources */
void flame_speedscope(struct text *out, const struct flame_export *e);

/* profile.proto of github.com/google/pprof, not compressed: pprof reads both. */
void flame_pprof(struct text *out, const struct flame_export *e);

/* A picture without scripts: the name and share of each frame are its title. */
void flame_svg(struct text *out, const struct flame_export *e);

#endif
