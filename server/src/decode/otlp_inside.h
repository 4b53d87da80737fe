/*
 * otlp_inside.h - a message of OpenTelemetry's profiles while it is read. For otlp.c and otlp_dictionary.c.
 */
#ifndef MIRE_DECODE_OTLP_INSIDE_H
#define MIRE_DECODE_OTLP_INSIDE_H

#include "decode/pprof.h"
#include "decode/tables.h"

#define MIRE_OTLP_ROWS_MAX (1u << 22)

struct otlp_attribute { /* of the dictionary, or of the resource */
    const char *key, *text;
};

struct otlp_profile { /* the numbers of one Profile */
    bool old;         /* 1.7 */
    uint64_t type[2], period_type[2];
    uint64_t time_ns, duration_ns, period;
    struct build_list locations; /* 1.7: location_indices */
    struct profile_values values;
};

struct otlp {
    struct build build;
    struct profile_sums profile;
    struct tables tables;
    struct proto message;
    struct build_list attributes, stacks; /* stacks: struct proto */
    struct profile_values values;         /* of the first profile */
    struct otlp_profile first;
    bool begun;
    size_t resources, left_out;
};

/* Read the attributes of a Resource into the report. False: malformed; o->tables has the fault. */
bool otlp_read_resource(struct otlp *o, struct proto message);

/* Read the dictionary: texts, attributes, mappings, locations, functions and stacks. False: malformed; o->tables has the
 * fault. */
bool otlp_read_dictionary(struct otlp *o, struct proto message);

#endif
