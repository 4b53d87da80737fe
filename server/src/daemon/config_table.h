/*
 * config_table.h - the table of settings, for the files config*.c alone.
 */
#ifndef MIRE_DAEMON_CONFIG_TABLE_H
#define MIRE_DAEMON_CONFIG_TABLE_H

#include "daemon/config.h"

#include <stdbool.h>

enum setting_kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_FLAG,
    KIND_LISTEN,
    KIND_LEVEL,
    KIND_FORMAT,
    KIND_RULES,
    KIND_MEMORY_RULES,
    KIND_SERVERS,
    KIND_ADDRESSES,
    KIND_WORD /* one of the words in help, between the commas before a colon */
};

struct setting_row {
    const char *name;
    const char *preset;
    enum setting_kind kind;
    long least, most; /* of a KIND_NUMBER, both allowed */
    const char *help; /* also the text of an error */
};

extern const struct setting_row config_table[MIRE_SETTING_COUNT];

/* Read a decimal number that is the whole text. False if the text is something else. */
bool config_read_number(long *out, const char *text);

#endif
