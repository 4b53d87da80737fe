/*
 * inside.h - invented reports of an invented app. Inside seed/ only.
 *
 * The app has 40 hangs by Zipf's law, five versions and 40,000 installations of eight models. One hang is rare before
 * the last version and frequent in it.
 */
#ifndef MIRE_SEED_INSIDE_H
#define MIRE_SEED_INSIDE_H

#include "base/id.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define SEED_HANGS    40
#define SEED_VERSIONS 5
#define SEED_PLANTED  4 /* index of the version in which hang 0 is frequent */
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
};

/* One hang of a session. */
struct seed_hang {
    int number;        /* below SEED_HANGS */
    int64_t device_us; /* begin, by the device's clock */
    uint32_t duration_ms;
};

/* A random number from 0 to `below` - 1; `state` is the caller's. */
uint32_t seed_roll(uint64_t *state, uint32_t below);

/* Append the session record, or the report of one hang. False: out of memory. */
bool seed_write_session(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session);
bool seed_write_hang(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session,
                     const struct seed_hang *hang);

#endif
