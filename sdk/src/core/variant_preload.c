/*
 * variant_preload.c - libmire-preload: see variant.h.
 */
#include "core/variant.h"

enum mire_err mire__variant_hook(void)
{
    return MIRE_OK;
}

void mire__variant_rehook(void)
{
}

void mire__variant_unhook(void)
{
}

bool mire__variant_rehooks(void)
{
    return false;
}

enum mire_err mire__variant_send_open(struct upload **sender_out, struct store *store, const mire_options *options)
{
    (void)store;
    (void)options;
    *sender_out = NULL;
    return MIRE_OK;
}

uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes, uint64_t now_ms)
{
    (void)sender;
    (void)now_ms;
    if (problem_bytes > 0)
        problem[0] = '\0';
    return UINT64_MAX;
}

void mire__variant_send_cancel(struct upload *sender)
{
    (void)sender;
}

void mire__variant_send_close(struct upload *sender)
{
    (void)sender;
}
