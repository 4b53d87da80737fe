/* sessions.c - see sessions.h. */
#include "rollup/sessions.h"

#include "rollup/pack.h"

#include <math.h>

int session_all_add(struct session_all *all, struct arena *arena, const struct session_one *one, uint32_t device,
                    double weight)
{
    int rc = 0;

    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        all->sums[i] += one->sums[i];
    for (int i = 0; !rc && i < MIRE_SESSION_GROUPS; i++)
        if (one->groups[i])
            rc = distinct_add(&all->devices[i], arena, device);
    for (int i = 0; !rc && i < MIRE_SESSION_SPREADS; i++)
        if (one->has[i])
            rc = sketch_add(&all->spreads[i], arena, one->values[i], (uint64_t)llround(weight));
    return rc;
}

int session_all_merge(struct session_all *all, struct arena *arena, const struct session_all *more)
{
    int rc = 0;

    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        all->sums[i] += more->sums[i];
    all->user_days += more->user_days;
    for (int i = 0; i < MIRE_SESSION_GROUPS; i++)
        all->group_days[i] += more->group_days[i];
    for (int i = 0; !rc && i < MIRE_SESSION_GROUPS; i++)
        rc = distinct_merge(&all->devices[i], arena, &more->devices[i]);
    for (int i = 0; !rc && i < MIRE_SESSION_SPREADS; i++)
        rc = sketch_merge(&all->spreads[i], arena, &more->spreads[i]);
    return rc;
}

void session_all_pack(struct pack_out *out, const struct session_all *all)
{
    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        pack_real(out, all->sums[i]);
    for (int i = 0; i < MIRE_SESSION_GROUPS; i++)
        distinct_pack(out, &all->devices[i]);
    for (int i = 0; i < MIRE_SESSION_SPREADS; i++)
        pack_sketch(out, &all->spreads[i]);
}

void session_all_unpack(struct session_all *out, struct pack_in *in)
{
    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        out->sums[i] = pack_get_real(in);
    for (int i = 0; !in->bad && i < MIRE_SESSION_GROUPS; i++)
        distinct_unpack(&out->devices[i], in);
    for (int i = 0; !in->bad && i < MIRE_SESSION_SPREADS; i++)
        pack_get_sketch(&out->spreads[i], in);
}

void session_one_pack(struct pack_out *out, const struct session_one *one)
{
    uint64_t groups = 0;

    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        pack_real(out, one->sums[i]);
    for (int i = 0; i < MIRE_SESSION_GROUPS; i++)
        groups |= (uint64_t)one->groups[i] << i;
    for (int i = 0; i < MIRE_SESSION_SPREADS; i++)
        groups |= (uint64_t)one->has[i] << (MIRE_SESSION_GROUPS + i);
    pack_number(out, groups);
    for (int i = 0; i < MIRE_SESSION_SPREADS; i++)
        if (one->has[i])
            pack_number(out, one->values[i]);
}

void session_one_unpack(struct session_one *out, struct pack_in *in)
{
    for (int i = 0; i < MIRE_SESSION_SUMS; i++)
        out->sums[i] = pack_get_real(in);
    uint64_t groups = pack_get_number(in, (1u << (MIRE_SESSION_GROUPS + MIRE_SESSION_SPREADS)) - 1);
    for (int i = 0; i < MIRE_SESSION_GROUPS; i++)
        out->groups[i] = groups >> i & 1;
    for (int i = 0; i < MIRE_SESSION_SPREADS; i++) {
        out->has[i] = groups >> (MIRE_SESSION_GROUPS + i) & 1;
        out->values[i] = out->has[i] ? pack_get_number(in, UINT64_MAX) : 0;
    }
}
