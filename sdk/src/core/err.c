/*
 * err.c - the codes of mire.h in words.
 */
#include "mire/mire.h"

#include <stddef.h>

static const struct {
    const char *name, *text;
} codes[] = {
    {"MIRE_OK", "success"},
    {"MIRE_E_ARG", "an argument is NULL, empty or malformed"},
    {"MIRE_E_RANGE", "a number is outside its documented range"},
    {"MIRE_E_STATE", "already started, or not started"},
    {"MIRE_E_MEMORY", "out of memory"},
    {"MIRE_E_STORE", "the store directory cannot be created or written; see mire_options_set_store"},
    {"MIRE_E_SYSTEM", "the system refused a thread, a signal or a mapping"},
    {"MIRE_E_TIMEOUT", "reports are still waiting"},
    {"MIRE_E_FULL", "no room"},
    {"MIRE_E_FORMAT", "a file on disk is damaged"},
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
