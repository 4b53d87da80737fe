/*
 * tables.h - texts, functions, modules and locations of a profile, as pprof has them with ids and OTLP by their places.
 * Inside decode/ only.
 *
 *     pprof   Function {id 1, name 2, system name 3, file 4}    OTLP  {name 1, system name 2, file 3}
 *             Mapping  {id 1, start 2, limit 3, offset 4, ...}        {start 1, limit 2, offset 3, ...}
 *             Location {id 1, mapping 2, address 3, line 4}           {mapping 1, address 2, line 3}
 *
 * An id of OTLP is here the place of the row plus one.
 */
#ifndef MIRE_DECODE_TABLES_H
#define MIRE_DECODE_TABLES_H

#include "decode/build.h"
#include "decode/proto.h"

#define TABLES_DEPTH_MAX 4096 /* frames of one stack */

struct tables {
    struct build *build;
    bool by_place; /* OTLP's */
    struct build_list strings, functions, mappings, locations, frames;
    const char *wrong; /* static; NULL: nothing */
    size_t place;      /* of that, in bytes */
    size_t deeper;     /* frames beyond TABLES_DEPTH_MAX */
    size_t depth;      /* of the stack that is put together */
    uint32_t stack[TABLES_DEPTH_MAX];
};

/* Remember the first fault. Returns false. */
bool tables_refuse(struct tables *tables, size_t place, const char *what);

/* The same of a message that could not be read to its end; true if it could. */
bool tables_ended(struct tables *tables, const struct proto *message);

bool tables_add_string(struct tables *tables, const struct proto_field *field);
bool tables_add_function(struct tables *tables, struct proto message);
bool tables_add_mapping(struct tables *tables, struct proto message);
bool tables_add_location(struct tables *tables, struct proto message);

/* After all rows, before anything is looked up. */
void tables_sort(struct tables *tables);

/* The text at a place of the table; "" where there is none. */
const char *tables_text(struct tables *tables, uint64_t index);

/* Append the frames of a location to the stack. */
bool tables_push(struct tables *tables, uint64_t location, size_t place);

/* The first mapping's file, which is the program's. "" if there is none. */
const char *tables_program(struct tables *tables);

/* OTLP: what a mapping has besides: attributes, by place. Its build id is set with the second call. */
void tables_set_build_id(struct tables *tables, size_t mapping, const char *digits);

#endif
