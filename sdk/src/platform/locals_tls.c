/* locals_tls.c - see locals.h: ELF thread-local storage. Signal-safe. */
#include "platform/locals.h"

__thread struct locals mire__locals __attribute__((tls_model("initial-exec"), visibility("hidden")));
