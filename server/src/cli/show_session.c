/* show_session.c - see show.h. */
#include "cli/say.h"
#include "cli/show.h"

#include "base/clock.h"
#include "model/exit.h"

#include <inttypes.h>

static void print_time(const char *before, struct fact wall_ms)
{
    char text[32];

    if (!wall_ms.known)
        return;
    clock_format(text, (int64_t)wall_ms.value * 1000);
    say(stdout, "%s%s", before, text);
}

static void print_ms(const char *name, struct fact ms)
{
    if (ms.known && ms.value)
        say(stdout, "%-10s %" PRIu64 " ms\n", name, ms.value);
}

void show_session(const struct report *report)
{
    const struct report_session *session = &report->session;

    say(stdout, "kind       session record: %zu runs ended%s", session->end_count,
        session->over ? "" : ", and it goes on");
    print_time(", from ", session->begin_wall_ms);
    putchar('\n');
    print_ms("lasted", session->duration_ms);
    print_ms("foreground", session->foreground_ms);
    print_ms("launch", session->launch_ms);
    print_ms("CPU time", session->cpu_ms);
    if (session->footprint_peak_bytes.known)
        say(stdout, "memory     %" PRIu64 " bytes at most\n", session->footprint_peak_bytes.value);
    if (session->frames_drawn.known)
        say(stdout, "frames     %" PRIu64 " drawn, %" PRIu64 " dropped\n", session->frames_drawn.value,
            session->frames_dropped.value);
    if (session->hang_count)
        say(stdout, "hangs      %" PRIu64 ", %" PRIu64 " ms\n", session->hang_count, session->hang_ms);
    for (size_t i = 0; i < session->end_count; i++) {
        const struct report_end *end = &session->ends[i];

        say(stdout, "run ended  %s (%s)", exit_text(end->verdict), end->verdict);
        if (end->confidence_ppm.known)
            say(stdout, ", %.1f %% sure", (double)end->confidence_ppm.value / 1e4);
        print_time(", at ", end->seen_wall_ms);
        putchar('\n');
    }
}
