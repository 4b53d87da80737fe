/*
 * profile.h - a profile, of memory or of time, as a report: what pprof, gperftools' text and OTLP have in common.
 * Inside decode/ only.
 *
 *     memory   a memory report: stacks by category, which is the block's size class or the profile's own category
 *     time     an event of the kind cpu, or custom of others: one sample a stack, weighted by its time
 *
 * Rows of one stack and category are summed. If there are more than a report may have, the largest are kept.
 */
#ifndef MIRE_DECODE_PROFILE_H
#define MIRE_DECODE_PROFILE_H

#include "decode/build.h"

struct profile_amount {
    uint64_t count, bytes;
};

struct profile_row {
    uint32_t node;
    const char *category; /* build_text's; NULL: by size */
    uint64_t block_bytes; /* 0: unknown */
    struct profile_amount live, total;
    uint64_t ns; /* of a profile of time */
};

struct profile_sums {
    struct build *build;
    struct build_list rows;
    struct build_table table;
    bool has_total;        /* of memory: all allocated bytes are known, freed ones included */
    uint64_t period_bytes; /* mean distance between samples of memory; 0 or 1: all were counted */
};

void profile_begin(struct profile_sums *profile, struct build *build);
void profile_add(struct profile_sums *profile, const struct profile_row *row);

/* Make the report's memory, or event, of all rows. */
void profile_end_memory(struct profile_sums *profile, uint64_t taken_wall_ms);

/*
 *   trigger      "cpu", or the profile's own word for time that was not spent on a CPU
 *   wall_ms      when it began; 0: unknown
 *   duration_ns  how long was measured; 0: unknown
 *   period_ns    between samples; 0: unknown
 */
void profile_end_time(struct profile_sums *profile, const char *trigger, uint64_t wall_ms, uint64_t duration_ns,
                      uint64_t period_ns);

/* Load address and base of the image of a module that was mapped at `start` from `offset` of its file. */
void profile_place(struct report_image *image, uint64_t start, uint64_t offset);

#endif
