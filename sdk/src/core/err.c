/*
 * err.c - the codes of mire.h in words.
 */
#include "mire/mire.h"

#include <stddef.h>

static const struct {
    const char *name, *text;
} codes[] = {
    {"MIRE_OK", "success"},
    {"MIRE_E_ARG", "an argument is missing or not what the call takes"},
    {"MIRE_E_RANGE", "a number is out of range"},
    {"MIRE_E_STATE", "already started, or not started"},
    {"MIRE_E_MEMORY", "out of memory"},
    {"MIRE_E_STORE", "the store directory cannot be made or written"},
    {"MIRE_E_SYSTEM", "the system refused a thread, a signal or a mapping"},
    {"MIRE_E_TIMEOUT", "reports are still waiting"},
    {"MIRE_E_FULL", "no room"},
    {"MIRE_E_FORMAT", "a file is not what it should be"},
};

static size_t row(enum mire_err err)
{
    size_t at = err <= 0 ? (size_t)0 - (size_t)err : sizeof(codes);
    return at < sizeof(codes) / sizeof(codes[0]) ? at : sizeof(codes);
}

const char *mire_err_name(enum mire_err err)
{
    return row(err) < sizeof(codes) ? codes[row(err)].name : "MIRE_E_UNKNOWN";
}

const char *mire_err_text(enum mire_err err)
{
    return row(err) < sizeof(codes) ? codes[row(err)].text : "unknown error";
}

const char *mire_version(void)
{
    return MIRE_VERSION;
}
