/*
 * document_exit.c - the section "exit". Unknown facts are omitted.
 */
#include "report/document.h"

static void write_signs(struct wire *wire, const char *key, uint64_t signs)
{
    mire__wire_array(wire, key);
    for (int sign = 0; sign < MIRE_SIGN_COUNT; sign++)
        if (signs >> sign & 1)
            mire__wire_text(wire, NULL, mire__sign_name(sign), SIZE_MAX);
    mire__wire_end(wire);
}

static void write_verdict(struct wire *wire, const struct exit_verdict *verdict)
{
    mire__wire_text(wire, MIRE_NAME_VERDICT, mire__verdict_name(verdict->verdict), SIZE_MAX);
    mire__wire_u64(wire, MIRE_NAME_CONFIDENCE_PPM, verdict->confidence_ppm);
    write_signs(wire, MIRE_NAME_FOR, verdict->signs_for);
    write_signs(wire, MIRE_NAME_AGAINST, verdict->signs_against);
    mire__wire_array(wire, MIRE_NAME_EXCLUDED);
    for (int i = 0; i < MIRE_EXCLUSIONS; i++)
        if (verdict->excluded >> i & 1)
            mire__wire_text(wire, NULL, mire__exclusion_name(i), SIZE_MAX);
    mire__wire_end(wire);
}

static void if_any(struct wire *wire, const char *key, uint64_t value)
{
    if (value > 0)
        mire__wire_u64(wire, key, value);
}

static void write_signal(struct wire *wire, const struct exit_end *end)
{
    if_any(wire, MIRE_NAME_SIGNAL, end->signal);
    if (end->crash_depth == 0)
        return;
    mire__wire_i64(wire, MIRE_NAME_CODE, end->signal_code);
    mire__wire_u64(wire, MIRE_NAME_ADDRESS, end->crash_address);
    mire__wire_u64(wire, MIRE_NAME_DEPTH, end->crash_depth);
}

static void write_memory(struct wire *wire, const struct exit_end *end)
{
    if_any(wire, MIRE_NAME_FOOTPRINT_PEAK_BYTES, end->footprint_peak_bytes);
    if (end->oom_known)
        mire__wire_u64(wire, MIRE_NAME_OOM_KILLS, end->oom_kills);
    if (end->trail_rows == 0)
        return;
    mire__wire_u64(wire, MIRE_NAME_FOOTPRINT_BYTES, end->footprint_bytes);
    if (end->limit_bytes > 0) {
        mire__wire_u64(wire, MIRE_NAME_LIMIT_USED_BYTES, end->used_bytes);
        mire__wire_u64(wire, MIRE_NAME_LIMIT_BYTES, end->limit_bytes);
    }
    if_any(wire, MIRE_NAME_AVAILABLE_BYTES, end->available_bytes);
    mire__wire_u64(wire, MIRE_NAME_PRESSURE_PPM, end->pressure_ppm);
    mire__wire_u64(wire, MIRE_NAME_THREAD_COUNT, end->thread_count);
    if_any(wire, MIRE_NAME_FD_COUNT, end->fd_count);
    mire__wire_bool(wire, MIRE_NAME_DEBUGGER, end->debugger);
}

void mire__document_exit(struct wire *wire, const struct exit_end *end)
{
    if (!end)
        return;
    mire__wire_object(wire, MIRE_NAME_EXIT);
    write_verdict(wire, &end->verdict);
    write_signal(wire, end);
    if (end->ground != MIRE_GROUND_UNKNOWN) {
        mire__wire_bool(wire, MIRE_NAME_FOREGROUND, end->ground == MIRE_GROUND_FORE);
        mire__wire_u64(wire, MIRE_NAME_FOREGROUND_MS, end->ground_ms);
    }
    if (end->stuck)
        mire__wire_u64(wire, MIRE_NAME_STUCK_MS, end->stuck_ms);
    if_any(wire, MIRE_NAME_SEEN_WALL_MS, end->seen_wall_ms);
    write_memory(wire, end);
    mire__wire_end(wire);
}
