/*
 * pprof.h - profiles of pprof (profile.proto), of memory and of time; heapprofd's and simpleperf's among them, and
 * gperftools' heap profiles in text. Inside decode/ only.
 */
#ifndef MIRE_DECODE_PPROF_H
#define MIRE_DECODE_PPROF_H

#include "decode/decode.h"
#include "decode/profile.h"
#include "decode/proto.h"

/* The position of each kind of value in a sample; -1: the profile has none. */
struct profile_values {
    int live_count, live_bytes, total_count, total_bytes; /* of memory */
    int time;                                             /* of time, or of samples a period apart */
    uint64_t time_unit_ns;                                /* of a value */
    const char *time_name;
};

/*
 * Take a type into account, in the profile's order.
 *
 *   type, unit  as pprof has them: "inuse_space" and "bytes", "cpu" and "nanoseconds"
 */
void profile_values_add(struct profile_values *values, int index, const char *type, const char *unit);

/* After all types: without live amounts, the allocated amounts are taken as live. */
void profile_values_settle(struct profile_values *values, struct build *build);

/* Nanoseconds of a unit of time; 0: the unit is of something else. */
uint64_t profile_unit_ns(const char *unit);

#define PROFILE_VALUES_INIT       \
    {                             \
        -1, -1, -1, -1, -1, 0, "" \
    }

/* Are they of memory? */
static inline bool profile_values_memory(const struct profile_values *values)
{
    return values->live_bytes >= 0 || values->total_bytes >= 0;
}

enum decode_outcome pprof_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                                 size_t len);
enum decode_outcome heap_text_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                     const char *bytes, size_t len);

#endif
