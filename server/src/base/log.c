/*
 * log.c - formats a line into one buffer and writes it with one call.
 */
#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

static void add_field(struct text *line, bool json, const char *key, const struct log_field *field)
{
    text_printf(line, json ? ",\"%s\":" : " %s=", key);
    if (field->text)
        text_add_json(line, field->text, strlen(field->text));
    else
        text_printf(line, "%lld", field->number);
}

void log_write(const struct log *log, enum log_level level, const char *event, const struct log_field *fields)
{
    if (!log || level < log->least)
        return;
    struct text line = {0};
    char now[32];
    clock_format(now, clock_wall_us());
    text_printf(&line, log->json ? "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"" : "%s %s %s", now,
                level_names[level], event);
    for (const struct log_field *field = fields; field->key; field++)
        add_field(&line, log->json, field->key, field);
    text_add(&line, log->json ? "}\n" : "\n");
    if (!text_failed(&line)) {
        ssize_t ignored = write(log->fd, line.bytes, line.len);
        (void)ignored; /* there is nobody left to tell */
    }
    text_fini(&line);
}

bool log_limit_pass(struct log_limit *limit, uint64_t most, uint64_t *skipped_out)
{
    uint64_t second = clock_mono_ns() / UINT64_C(1000000000);
    if (atomic_exchange(&limit->second, second) != second)
        atomic_store(&limit->count, 0);
    if (atomic_fetch_add(&limit->count, 1) >= most) {
        atomic_fetch_add(&limit->skipped, 1);
        return false;
    }
    *skipped_out = atomic_exchange(&limit->skipped, 0);
    return true;
}

int log_level_parse(enum log_level *out, const char *name)
{
    for (unsigned i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (!strcmp(name, level_names[i])) {
            *out = (enum log_level)i;
            return 0;
        }
    }
    return -1;
}
