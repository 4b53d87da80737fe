/*
 * inside.h - invented reports of an invented app. Inside seed/ only.
 *
 * The app has 40 hangs by Zipf's law, five leaks, five versions and 40,000 installations of eight models. One hang and
 * one leak are rare before the last version and frequent in it.
 */
#ifndef MIRE_SEED_INSIDE_H
#define MIRE_SEED_INSIDE_H

#include "base/id.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct json_writer;

#define SEED_HANGS    40
#define SEED_VERSIONS 5
#define SEED_LEAKS    5
#define SEED_NO_LEAK  (-1)
#define SEED_PLANTED  4 /* index of the version in which hang 0 and leak 0 are frequent */
#define SEED_INSTALLS 40000

/* One run of the app. */
struct seed_session {
    uint32_t install;     /* below SEED_INSTALLS */
    int version;          /* below SEED_VERSIONS */
    int64_t device_us;    /* begin, by the device's clock */
    uint32_t duration_ms; /* of the session */
    uint32_t hangs;       /* number */
    uint32_t hang_ms;     /* sum of their lengths */
    const char *verdict;  /* of the end: exit.verdict of the wire */
    uint64_t peak_bytes;  /* largest footprint */
};

/* One hang of a session. */
struct seed_hang {
    int number;        /* below SEED_HANGS */
    int64_t device_us; /* begin, by the device's clock */
    uint32_t duration_ms;
};

/* The memory of a session's process at one instant. */
struct seed_memory {
    const char *trigger; /* memory.trigger of the wire */
    bool killed;         /* for lack of it */
    int leak;            /* below SEED_LEAKS, or SEED_NO_LEAK */
    int64_t device_us;   /* when, by the device's clock */
    uint32_t run_ms;     /* how old the process was */
    uint64_t footprint_bytes;
};

/* A random number from 0 to `below` - 1; `state` is the caller's. */
uint32_t seed_roll(uint64_t *state, uint32_t below);

/* What all processes of an installation together may take. */
uint64_t seed_limit_bytes(uint32_t install);

/* The begin of a report, as far as its device; its end, which appends it to `out` and frees the writer. */
void seed_write_head(struct json_writer *w, const char *kind, const char *app, const struct uuid *id,
                     const struct seed_session *session);
bool seed_finish(struct text *out, struct json_writer *w);

/* The process of a report; a row of its images. */
void seed_write_process(struct json_writer *w, const char *app);
void seed_write_image(struct json_writer *w, const char *path, uint64_t load, bool own);

/* Append the session record, the report of one hang, or that of memory, whose footprint is set to that of the report.
 * `state` draws the amounts. False: out of memory. */
bool seed_write_session(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session);
bool seed_write_hang(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session,
                     const struct seed_hang *hang);
bool seed_write_memory(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session,
                       struct seed_memory *memory, uint64_t *state);

#endif
