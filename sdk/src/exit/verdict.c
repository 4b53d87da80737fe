/*
 * verdict.c - the table of weights, and the sums. A weight is in bits: one bit doubles the odds. A sign of 16 bits or
 * more outweighs all circumstantial signs together.
 */
#include "exit/verdict.h"

#include <stdlib.h>

#define WEIGHTS_MAX 32
#define HELD        (-4) /* 1 in 17 */
#define SURE        20   /* larger odds than a share in millionths can express */
#define PPM         1000000
#define PROOF       16
#define NEVER       (-6 * PROOF) /* outweighs all that speaks for any verdict */
#define S(sign)     MIRE_SIGN_##sign

struct weight {
    int8_t sign; /* enum mire__sign */
    int8_t bits; /* 0 ends the row */
};

struct verdict_row {
    enum mire__end verdict;
    int bits; /* without any sign */
    struct weight weights[WEIGHTS_MAX];
};

/* clang-format off */
#define SEEN_TO_DIE {S(PARENT_SAW_CRASH), NEVER}, {S(PARENT_SAW_ABORT), NEVER}, {S(PARENT_SAW_QUIT), NEVER}
#define OF_ITS_OWN  {S(STOPPED), -PROOF}, {S(EXITED), -PROOF}, {S(EXECUTED), -PROOF}, {S(ABORT_CALLED), -PROOF}
#define MARKED      {S(CRASHED), -PROOF}, {S(ABORTED), -PROOF}, {S(ABORT_SENT), -PROOF}
#define QUITTING    {S(QUIT_ANNOUNCED), -PROOF}, {S(QUIT_SIGNAL), -PROOF}
/* The watchdog of a service manager kills by SIGABRT. */
#define BY_ABORT    {S(ABORT_SENT), 12}, {S(PARENT_SAW_ABORT), -8}, {S(PARENT_SAW_CRASH), NEVER}, {S(PARENT_SAW_QUIT), NEVER}

/* The system's record of another end. */
#define SAW_END     {S(SYSTEM_SAW_CRASH), NEVER}, {S(SYSTEM_SAW_HANG), NEVER}, {S(SYSTEM_SAW_USER), NEVER}
#define SAW_MEMORY  {S(SYSTEM_SAW_LOW_MEMORY), NEVER}, {S(SYSTEM_SAW_LIMIT), NEVER}
#define SAW_UPGRADE {S(SYSTEM_SAW_UPGRADE), NEVER}
#define SAW_KILL    {S(SYSTEM_SAW_KILL), NEVER}

/* In the order of exclusion. */
static const struct verdict_row rows[] = {
    {MIRE_EXIT_APP_UPGRADED, -4, {
        {S(APP_CHANGED), 9}, {S(APP_SAME), -8}, {S(OOM_COUNTED), -8}, {S(PARENT_SAW_EXIT), NEVER},
        {S(PARENT_SAW_KILL), -4}, {S(PARENT_SAW_SIGNAL), -PROOF}, OF_ITS_OWN, MARKED, QUITTING, SEEN_TO_DIE,
        {S(SYSTEM_SAW_UPGRADE), 2 * PROOF}, SAW_END, SAW_MEMORY, SAW_KILL}},
    {MIRE_EXIT_CLEAN, -8, {
        {S(STOPPED), PROOF}, {S(EXITED), PROOF}, {S(EXECUTED), PROOF}, {S(PARENT_SAW_EXIT), PROOF},
        {S(CRASHED), NEVER - PROOF}, {S(ABORTED), NEVER - PROOF}, {S(ABORT_SENT), NEVER - PROOF},
        {S(PARENT_SAW_KILL), -PROOF}, {S(PARENT_SAW_SIGNAL), NEVER}, SEEN_TO_DIE,
        SAW_END, SAW_MEMORY, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_ABORT, -8, {
        {S(ABORTED), PROOF}, {S(ABORT_CALLED), 12}, {S(PARENT_SAW_ABORT), PROOF}, {S(ABORT_SENT), -PROOF},
        {S(CRASHED), NEVER}, {S(STOPPED), -3}, {S(PARENT_SAW_EXIT), -3}, {S(PARENT_SAW_CRASH), NEVER}, {S(PARENT_SAW_KILL), -6},
        SAW_END, SAW_MEMORY, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_CRASH, -8, {
        {S(CRASHED), PROOF}, {S(PARENT_SAW_CRASH), PROOF}, {S(CRASH_SURVIVED), -2}, {S(HANDLERS_REPLACED), 1},
        {S(SYSTEM_SAW_CRASH), PROOF}, {S(SYSTEM_SAW_HANG), -PROOF}, {S(SYSTEM_SAW_USER), -PROOF}, SAW_MEMORY, SAW_UPGRADE}},
    {MIRE_EXIT_USER_QUIT, -8, {
        {S(QUIT_SIGNAL), 14}, {S(QUIT_ANNOUNCED), 13}, {S(PARENT_SAW_QUIT), PROOF}, {S(PARENT_SAW_CRASH), NEVER},
        {S(PARENT_SAW_ABORT), NEVER}, {S(OOM_COUNTED), -3},
        {S(SYSTEM_SAW_USER), PROOF}, {S(SYSTEM_SAW_CRASH), NEVER}, {S(SYSTEM_SAW_HANG), NEVER}, SAW_MEMORY, SAW_UPGRADE}},
    {MIRE_EXIT_OS_UPGRADED, -8, {
        {S(OS_CHANGED), 13}, {S(BOOT_CHANGED), 2}, {S(BOOT_SAME), -PROOF}, {S(NEAR_LIMIT), -1},
        OF_ITS_OWN, MARKED, SEEN_TO_DIE,
        SAW_END, SAW_MEMORY, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_REBOOTED, -8, {
        {S(BOOT_CHANGED), 13}, {S(BOOT_SAME), -PROOF}, {S(NEAR_LIMIT), -1}, {S(PRESSURE), -1},
        OF_ITS_OWN, MARKED, SEEN_TO_DIE,
        SAW_END, SAW_MEMORY, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_BACKGROUND_KILL, -3, {
        {S(BACKGROUND), 9}, {S(JUST_FOREGROUND), 9}, {S(FOREGROUND), -12}, {S(PARENT_SAW_KILL), 2},
        {S(PARENT_SAW_EXIT), NEVER}, {S(DEBUGGER), -2}, {S(BOOT_CHANGED), -4}, SEEN_TO_DIE,
        {S(SYSTEM_SAW_LOW_MEMORY), 3}, {S(SYSTEM_SAW_KILL), 3}, {S(SYSTEM_SAW_LIMIT), NEVER}, SAW_END, SAW_UPGRADE}},
    {MIRE_EXIT_WATCHDOG_KILL, -3, {
        {S(STUCK), 8}, {S(NOT_STUCK), -10}, {S(FOREGROUND), 1}, {S(GROUND_UNKNOWN), -1},
        {S(PARENT_SAW_KILL), 2}, {S(PARENT_SAW_EXIT), NEVER}, {S(OOM_COUNTED), -9}, {S(PRESSURE), -1},
        {S(DEBUGGER), -3}, {S(BOOT_CHANGED), -4}, BY_ABORT,
        {S(SYSTEM_SAW_HANG), 2 * PROOF}, {S(SYSTEM_SAW_CRASH), NEVER}, {S(SYSTEM_SAW_USER), NEVER}, SAW_MEMORY, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_FOOM, -6, {
        {S(OOM_COUNTED), 12}, {S(OOM_COUNTED_ELSEWHERE), 5}, {S(NEAR_LIMIT), 7}, {S(PRESSURE), 2}, {S(GREW), 1},
        {S(PARENT_SAW_KILL), 2}, {S(OOM_NOT_COUNTED), -8}, {S(FAR_FROM_LIMIT), -2}, {S(GROUND_UNKNOWN), -1},
        {S(DEBUGGER), -3}, {S(HANDLERS_REPLACED), -1}, {S(FOUND_LATE), -3}, {S(BOOT_CHANGED), -4},
        {S(PARENT_SAW_EXIT), NEVER},
        {S(PARENT_SAW_SIGNAL), NEVER}, {S(CRASHED), NEVER}, {S(ABORTED), NEVER}, SEEN_TO_DIE,
        {S(SYSTEM_SAW_LOW_MEMORY), 2 * PROOF}, {S(SYSTEM_SAW_LIMIT), 2 * PROOF}, SAW_END, SAW_UPGRADE, SAW_KILL}},
    {MIRE_EXIT_OS_KILL, -2, {
        {S(PARENT_SAW_KILL), 4}, {S(PARENT_SAW_SIGNAL), PROOF}, {S(OOM_NOT_COUNTED), 3}, {S(FAR_FROM_LIMIT), 2},
        {S(BOOT_SAME), 1}, {S(OOM_COUNTED), -6}, {S(NEAR_LIMIT), -3}, {S(HANDLERS_REPLACED), -2},
        {S(DEBUGGER), -1}, {S(BOOT_CHANGED), -8}, {S(PARENT_SAW_EXIT), NEVER}, BY_ABORT,
        {S(SYSTEM_SAW_KILL), PROOF}, SAW_END, SAW_MEMORY, SAW_UPGRADE}},
};

static const char *const verdict_names[MIRE_EXIT_VERDICTS] = {
    [MIRE_EXIT_UNKNOWN] = "unknown",
    [MIRE_EXIT_APP_UPGRADED] = "app_upgraded",
    [MIRE_EXIT_CLEAN] = "clean_exit",
    [MIRE_EXIT_ABORT] = "abort",
    [MIRE_EXIT_CRASH] = "crash",
    [MIRE_EXIT_USER_QUIT] = "user_quit",
    [MIRE_EXIT_OS_UPGRADED] = "os_upgraded",
    [MIRE_EXIT_REBOOTED] = "rebooted",
    [MIRE_EXIT_BACKGROUND_KILL] = "background_kill",
    [MIRE_EXIT_WATCHDOG_KILL] = "watchdog_kill",
    [MIRE_EXIT_FOOM] = "foom",
    [MIRE_EXIT_OS_KILL] = "os_kill",
};

/* The verdicts that each exclusion excludes. */
static const struct {
    const char *name;
    uint32_t verdicts; /* a bit each */
} exclusions[MIRE_EXCLUSIONS] = {
    [MIRE_EXCLUDED_APP_UPGRADE] = {"app_upgrade", 1u << MIRE_EXIT_APP_UPGRADED},
    [MIRE_EXCLUDED_EXIT] = {"exit", 1u << MIRE_EXIT_CLEAN | 1u << MIRE_EXIT_ABORT},
    [MIRE_EXCLUDED_CRASH] = {"crash", 1u << MIRE_EXIT_CRASH},
    [MIRE_EXCLUDED_USER_QUIT] = {"user_quit", 1u << MIRE_EXIT_USER_QUIT},
    [MIRE_EXCLUDED_OS_CHANGE] = {"os_change", 1u << MIRE_EXIT_OS_UPGRADED | 1u << MIRE_EXIT_REBOOTED},
    [MIRE_EXCLUDED_BACKGROUND] = {"background", 1u << MIRE_EXIT_BACKGROUND_KILL},
    [MIRE_EXCLUDED_STUCK] = {"stuck", 1u << MIRE_EXIT_WATCHDOG_KILL},
};

#define SIGN_NAME(sign, name) name,
static const char *const sign_names[] = {MIRE_SIGNS(SIGN_NAME)};
/* clang-format on */

_Static_assert(MIRE_SIGN_COUNT <= 64, "signs are bits of a uint64_t");

/* The sum of a row, and the present signs in it. */
static int score(const struct verdict_row *row, uint64_t signs, uint64_t *for_out, uint64_t *against_out)
{
    int sum = row->bits;

    *for_out = *against_out = 0;
    for (size_t i = 0; i < WEIGHTS_MAX && row->weights[i].bits != 0; i++) {
        const struct weight *weight = &row->weights[i];
        uint64_t bit = UINT64_C(1) << weight->sign;

        if (!(signs & bit))
            continue;
        sum += weight->bits;
        *(weight->bits > 0 ? for_out : against_out) |= bit;
    }
    return sum;
}

/* 2^bits against 1, as a share of a million. */
static uint32_t ppm(int bits)
{
    uint64_t odds = UINT64_C(1) << (abs(bits) < SURE ? abs(bits) : SURE);

    return (uint32_t)(bits < 0 ? PPM / (1 + odds) : PPM * odds / (1 + odds));
}

static uint32_t held(uint32_t likely)
{
    uint32_t excluded = 0;

    for (int i = 0; i < MIRE_EXCLUSIONS; i++)
        if (!(exclusions[i].verdicts & likely))
            excluded |= 1u << i;
    return excluded;
}

void mire__verdict_find(struct exit_verdict *out, uint64_t signs)
{
    uint32_t likely = 0; /* verdicts that cannot be excluded */
    int best = INT8_MIN * WEIGHTS_MAX;

    *out = (struct exit_verdict){.verdict = MIRE_EXIT_UNKNOWN};
    for (size_t i = 0; i < MIRE_COUNT(rows); i++) {
        uint64_t speaks_for, against;
        int sum = score(&rows[i], signs, &speaks_for, &against);

        if (sum > HELD)
            likely |= 1u << rows[i].verdict;
        if (best > 0 || sum <= best)
            continue; /* found already, or less likely than the best one so far */
        best = sum;
        out->verdict = sum > 0 ? rows[i].verdict : MIRE_EXIT_UNKNOWN;
        out->signs_for = speaks_for;
        out->signs_against = against;
    }
    out->confidence_ppm = best > 0 ? ppm(best) : PPM - ppm(best);
    out->excluded = held(likely);
}

const char *mire__verdict_name(enum mire__end verdict)
{
    return (unsigned)verdict < MIRE_EXIT_VERDICTS ? verdict_names[verdict] : verdict_names[MIRE_EXIT_UNKNOWN];
}

const char *mire__exclusion_name(enum mire__exclusion exclusion)
{
    return (unsigned)exclusion < MIRE_EXCLUSIONS ? exclusions[exclusion].name : "";
}

const char *mire__sign_name(enum mire__sign sign)
{
    return (unsigned)sign < MIRE_SIGN_COUNT ? sign_names[sign] : "";
}
