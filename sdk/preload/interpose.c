/*
 * interpose.c - the waiting calls and the calls that end the program, which the loader finds here first, because the
 * library is preloaded. Signal-safe as the calls are.
 */
#include "gate/hooks.h"

/* clang-format off */
#define EXPORT_WAIT(result, name, parameters, arguments, waits, on, length, asked) \
    __attribute__((visibility("default"))) result name parameters;   \
    result name parameters                                           \
    MIRE_HOOK_BODY(result, name, parameters, arguments, waits, on, length, asked)
MIRE_HOOKS(EXPORT_WAIT)

#define EXPORT_EXIT(name)                                            \
    __attribute__((visibility("default"))) void name(int status);    \
    void name(int status)                                            \
    {                                                                \
        mire__hook_##name(status);                                   \
        __builtin_unreachable();                                     \
    }
MIRE_EXITS(EXPORT_EXIT)

__attribute__((visibility("default"))) void abort(void);
void abort(void)
{
    mire__hook_abort();
    __builtin_unreachable();
}

__attribute__((visibility("default"))) int sigaltstack(const stack_t *stack, stack_t *before);
int sigaltstack(const stack_t *stack, stack_t *before)
{
    return mire__hook_sigaltstack(stack, before);
}

#define EXPORT_EXEC(name, parameters, arguments)                     \
    __attribute__((visibility("default"))) int name parameters;      \
    int name parameters                                              \
    {                                                                \
        return mire__hook_##name arguments;                          \
    }
MIRE_EXECS(EXPORT_EXEC)

#define EXPORT_LIST(name, with_array)                                \
    __attribute__((visibility("default"))) int name(const char *path, const char *first, ...); \
    MIRE_DEFINE_BY_LIST(name, name)
MIRE_EXEC_LISTS(EXPORT_LIST)
/* clang-format on */
