/*
 * ips.h - the parts of the decoder of Apple's .ips files. Inside decode/ only.
 */
#ifndef MIRE_DECODE_IPS_H
#define MIRE_DECODE_IPS_H

#include "decode/apple.h"
#include "decode/formats.h"

struct ips { /* a file: its first line, and what follows */
    struct foreign *foreign;
    struct build *b;
    const struct json *head; /* the first line */
    const struct json *body; /* the rest, where it is JSON */
    const char *text;        /* the rest */
    size_t len, position;
    uint32_t bug_type; /* 0: it has none */
    const char *id;    /* incident_id; "" */
    struct fact wall_ms;
};

/* End the report and hand it on; `own` is its identifier within the file. */
enum decode_outcome ips_end(struct ips *ips, const char *own);

/* Threads with images in one list, as of crashes and hangs. */
enum decode_outcome ips_crash(struct ips *ips);

/* Processes with their pages, as of jetsam events. */
enum decode_outcome ips_jetsam(struct ips *ips);

/* The text of spindump: a tree for each thread, indented by two spaces a level. */
enum decode_outcome ips_stackshot(struct ips *ips);

#endif
