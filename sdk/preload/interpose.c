/*
 * interpose.c - the waiting calls, found here first because the library is preloaded. Signal-safe as the calls are.
 */
#include "gate/hooks.h"

/* clang-format off */
#define EXPORT(result, name, parameters, arguments, waits)           \
    __attribute__((visibility("default"))) result name parameters;   \
    result name parameters                                           \
    {                                                                \
        return mire__hook_##name arguments;                          \
    }
MIRE_HOOKS(EXPORT)
/* clang-format on */
