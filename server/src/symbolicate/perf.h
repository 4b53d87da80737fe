/*
 * perf.h - names that virtual machines give code made at run time in /tmp/perf-PID.map, taken apart. Inside
 * symbolicate/ only.
 *
 *     JS:*price /srv/app.js:2:15                        price                  /srv/app.js:2
 *     LazyCompile:~ /srv/app.js:4:9                     (anonymous)            /srv/app.js:4
 *     Builtin:ArrayMap                                  Builtin:ArrayMap       V8's own
 *     py::serve:/srv/app.py                             serve                  /srv/app.py
 *     void org.x.Shop.price(int)                        org.x.Shop.price       Java
 *     instance int32 [shop] X.Shop::Price(int32)[Tier0] X.Shop.Price           .NET
 *     $lists:map/2                                      lists:map/2            Erlang
 *     TRACE_3::app.lua:12                               TRACE_3::app.lua:12
 *
 * The line is the first one of the function.
 */
#ifndef MIRE_SYMBOLICATE_PERF_H
#define MIRE_SYMBOLICATE_PERF_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_place {
    const char *function; /* never empty */
    const char *file;     /* "" if unknown */
    const char *image;    /* the file, or the virtual machine; "" if unknown */
    uint32_t line;        /* 0 if unknown */
};

/* 0, or MIRE_FAULT_MEMORY. Texts are in the arena, static, or `name` itself, which is not empty. */
int perf_parse(struct perf_place *out, struct arena *arena, const char *name);

#endif
