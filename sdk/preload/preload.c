/*
 * preload.c - starts the SDK in a program that does not know it, before its main().
 *
 * Options come from the environment that mire-run sets. Programs that the watched one executes inherit them and are
 * watched too, each with its own blackbox. If starting fails the program runs as if nothing had been preloaded.
 */
#include "core/core.h"

__attribute__((constructor)) static void start(void)
{
    mire__core_start_from_environment();
}
