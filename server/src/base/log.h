/*
 * log.h - one line an event: time, level, event, fields.
 *
 *     2026-11-21T00:36:29.123Z warn pg.lost host="/run/mire" tried=3
 *     {"time":"2026-11-21T00:36:29.123Z","level":"warn","event":"pg.lost","host":"/run/mire","tried":3}
 *
 * A fault is logged where it is born, once, with the ids at hand (request=..., report=...). Each line is one write(2),
 * so lines of several threads and processes do not mix. Any thread.
 */
#ifndef MIRE_BASE_LOG_H
#define MIRE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { MIRE_LOG_DEBUG, MIRE_LOG_INFO, MIRE_LOG_WARN, MIRE_LOG_ERROR, MIRE_LOG_OFF };

struct log {
    int fd; /* where lines go; borrowed */
    enum log_level least;
    bool json;
};

struct log_field {
    const char *key;  /* NULL ends a list */
    const char *text; /* NULL: number holds the value */
    long long number;
};

#define LOG_TEXT(k, v)          \
    (struct log_field)          \
    {                           \
        .key = (k), .text = (v) \
    }
#define LOG_NUMBER(k, v)                     \
    (struct log_field)                       \
    {                                        \
        .key = (k), .number = (long long)(v) \
    }

/* Write one line. `event` is dotted lower-case words; `fields` ends with a field without key. `log` may be NULL. */
void log_write(const struct log *log, enum log_level level, const char *event, const struct log_field *fields);

/* log_event(log, MIRE_LOG_INFO, "pg.ready", LOG_NUMBER("pid", pid)); */
#define log_event(log, level, event, ...) \
    log_write(log, level, event, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){.key = NULL}})

/* Lines of one kind that a crowd can cause. Begins as zeros. Any thread. */
struct log_limit {
    _Atomic uint64_t second, count, skipped;
};

/*
 * May one more line of this kind be written? At most `most` a second are.
 * True: *skipped_out is how many were not written since the last one that was.
 */
bool log_limit_pass(struct log_limit *limit, uint64_t most, uint64_t *skipped_out);

/* 0, or -1 if `name` is none of debug, info, warn, error, off. */
int log_level_parse(enum log_level *out, const char *name);

#endif
