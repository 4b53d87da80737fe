/*
 * exit.h - why the process of a report ended, as was found out afterwards. The wire's section "exit"
 * (schema/wire/report.schema.json), in the report and in the resolved document alike.
 */
#ifndef MIRE_MODEL_EXIT_H
#define MIRE_MODEL_EXIT_H

#include "base/fact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_EXIT_WORDS_MAX  64 /* rows of for, against and excluded */
#define MIRE_EXIT_EXCLUSIONS 7  /* of a kill for lack of memory */

struct exit_words {
    size_t count;
    const char *const *words;
};

struct report_exit {
    bool known;          /* the process had ended when the report was made */
    const char *verdict; /* "watchdog_kill", "foom", ...; "" if not known */
    uint32_t confidence_ppm;
    struct exit_words speaks_for, against;
    struct exit_words excluded; /* exclusions in force */
    struct fact signal;
    struct fact code; /* two's complement */
    struct fact address;
    struct fact depth;
    bool foreground, foreground_known;
    struct fact foreground_ms;
    struct fact stuck_ms;
    struct fact seen_wall_ms;
    struct fact footprint_bytes;
    struct fact footprint_peak_bytes;
    struct fact limit_used_bytes;
    struct fact limit_bytes;
    struct fact available_bytes;
    struct fact pressure_ppm;
    struct fact oom_kills;
    struct fact thread_count;
    struct fact fd_count;
    bool debugger;
};

/* A verdict in words for people: "killed while hung". A verdict of a later version is returned unchanged. Static or
 * the argument. */
const char *exit_text(const char *verdict);

/* The verdict that an end counts as: itself if this version knows it, otherwise "other". Reports may name any verdict. Static. */
const char *exit_counted(const char *verdict);

#endif
