/*
 * foreign.h - the interface of decoders of other programs' formats. Inside decode/
 * only.
 *
 *     bytes --(zstd, gzip)--> JSON values one by one --> document()  one value on a tape
 *                             anything else          --> whole()     all bytes, bounded
 *                                                        stream()    bytes as they come
 *                                        each report --> build.h --> foreign_report()
 *
 * A decoder calls foreign_report() once for each report that it finds, in the order of the input. It leaves out facts
 * that it cannot keep, and says so in the report's notes (build_note). It refuses the input only where there is no
 * report to be (foreign_wrong).
 */
#ifndef MIRE_DECODE_FOREIGN_H
#define MIRE_DECODE_FOREIGN_H

#include "decode/decode.h"
#include "json/json.h"

#define MIRE_FOREIGN_HEAD      4096        /* first bytes for recognising a format; fewer of a shorter input */
#define MIRE_FOREIGN_VALUE_MAX (32u << 20) /* bytes of one JSON value, and of an input that is read whole */
#define MIRE_FOREIGN_DEPTH_MAX 2048        /* containers within each other: two for each frame of a MetricKit tree */

struct foreign {
    struct arena *arena;        /* of one report, or one JSON value; emptied between */
    struct decode_fault *fault; /* filled by foreign_wrong */
    const struct format *format;
    const struct decode_each *each;
    size_t position;  /* byte of the input at which the value that is read now begins */
    const char *text; /* the value, or the whole input; NULL while streaming */
    size_t len;
    uint32_t reports; /* that came of the value, or of the whole input */
    uint32_t *reports_all;
};

/* The source of a streamed input: returns at least one byte, or none at the end. */
struct foreign_stream {
    /* Bytes put into `out`, 0 at the end, below zero a fault. */
    long (*read)(struct foreign_stream *stream, void *out, size_t room);
    uint64_t at; /* bytes read so far */
    bool failed; /* the reader behind it failed: the outcome is MIRE_DECODE_UNREADABLE */
};

/*
 * One report is complete. Makes its id, checks it against the limits of the wire and hands it on.
 *
 *   report  as build_end left it
 *   own     the format's identifier of it, with a suffix that separates it from other reports of the input; "" if the
 *           format has none: a hash of the value's bytes is taken
 *   wall_ms the time that goes into the id; 0 if the format has none
 *
 * Returns MIRE_DECODE_OK, MIRE_DECODE_STOPPED (the receiver wants no more) or MIRE_DECODE_NO_MEMORY.
 */
enum decode_outcome foreign_report(struct foreign *foreign, struct report *report, const char *own, uint64_t wall_ms);

/* Refuse the input: fills path (JSON Pointer) or position, and the text; returns MIRE_DECODE_WRONG. */
__attribute__((format(printf, 3, 4))) enum decode_outcome foreign_wrong(struct foreign *foreign, const char *path,
                                                                        const char *format, ...);

/* The same with a byte of the input as the place; returns MIRE_DECODE_MALFORMED. */
__attribute__((format(printf, 3, 4))) enum decode_outcome foreign_malformed(struct foreign *foreign, size_t position,
                                                                            const char *format, ...);

#endif
