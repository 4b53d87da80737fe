/*
 * plugin.c - see plugin.h.
 */
#include "wire/plugin.h"

#include "wire/names.h"

const char *mire__plugin_name(enum mire__plugin plugin)
{
    static const char *const names[MIRE_PLUGINS] = {[MIRE_PLUGIN_HANG] = MIRE_NAME_HANG,
                                                    [MIRE_PLUGIN_MEMORY] = MIRE_NAME_MEMORY,
                                                    [MIRE_PLUGIN_EXIT] = MIRE_NAME_EXIT,
                                                    [MIRE_PLUGIN_SESSION] = MIRE_NAME_SESSION};

    return names[plugin];
}
