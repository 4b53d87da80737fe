/* write_session.c - a session record that has only how runs ended, as the decoder of ApplicationExitInfo makes it. */
#include "decode/write_inside.h"

void report_write_session(struct json_writer *w, const struct report_session *session)
{
    json_write_open(w, MIRE_NAME_SESSION, '{');
    put_fact(w, MIRE_NAME_BEGIN_WALL_MS, session->begin_wall_ms);
    json_write_u64(w, MIRE_NAME_DURATION_MS, session->duration_ms.value);
    put_fact(w, MIRE_NAME_FOREGROUND_MS, session->foreground_ms);
    json_write_bool(w, MIRE_NAME_OVER, session->over);
    json_write_bool(w, MIRE_NAME_LOOP, session->loop);
    json_write_open(w, MIRE_NAME_ON, '[');
    json_write_close(w, ']');
    json_write_open(w, MIRE_NAME_ENDS, '[');
    for (size_t i = 0; i < session->end_count; i++) {
        const struct report_end *end = &session->ends[i];

        json_write_open(w, NULL, '{');
        json_write_text(w, "verdict", end->verdict);
        put_fact(w, "confidence_ppm", end->confidence_ppm);
        put_fact(w, MIRE_NAME_START_WALL_MS, end->start_wall_ms);
        put_fact(w, MIRE_NAME_SEEN_WALL_MS, end->seen_wall_ms);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
}
