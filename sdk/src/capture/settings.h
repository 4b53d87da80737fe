/*
 * settings.h - the parameters of capture/, which an app or a rollout document may change.
 *
 *   X(name, least, normal, most, meaning)
 *
 * A row is a field of struct capture_settings, its default and its compiled bounds. All are unsigned 32-bit numbers
 * with their unit in the name; ppm is a millionth.
 */
#ifndef MIRE_CAPTURE_SETTINGS_H
#define MIRE_CAPTURE_SETTINGS_H

#include "base/base.h"

/* clang-format off */
#define MIRE_SETTINGS(X) \
    /* how long busy may last before it is a hang; the four kinds in the order of enum mire_kind */ \
    X(foreground_ms,        250,   2000,   60000, "a turn, while the app is in the foreground, or its state is unknown") \
    X(background_ms,        250,   2000,   60000, "a turn, while the app is in the background") \
    X(launch_ms,            250,   2000,   60000, "from process start to the first wait") \
    X(unanswered_ms,        250,   2000,   60000, "a ping that nobody answers") \
    /* stacks of a busy turn */ \
    X(sample_from_ppm,        0, 500000, 1000000, "share of the threshold after which sampling begins") \
    X(period_ms,              1,     50,   60000, "between two samples") \
    /* the process as a whole; a limit of 0 switches its monitor off */ \
    X(cpu_percent,            0,     80,  100000, "CPU too high: of one processor, over cpu_window_ms") \
    X(cpu_window_ms,       1000,   5000,   60000, "") \
    X(power_percent,          0,     80,  100000, "CPU high on average: of one processor, over power_window_ms") \
    X(power_window_ms,     5000,  60000,  600000, "") \
    X(power_thread_percent,   1,      5,     100, "a thread using less is left out of the power tree") \
    X(disk_kib,               0, 102400, 16777216, "disk I/O too much: read and written, over disk_window_ms") \
    X(disk_window_ms,      1000,  10000,  600000, "") \
    X(frame_us,            1000,  16667,  100000, "a frame's time") \
    X(frames_dropped,         0,     30,   10000, "frames dropped in a window, or within a scene, that make an event") \
    /* memory reports, if memory is recorded; 0 disables each */ \
    X(footprint_kib,          0,      0, 4294967295u, "a footprint that is reported") \
    X(pressure_ppm,           0, 100000, 1000000, "share of 10 s in which the system stalled for lack of memory") \
    X(baseline_ms,            0, 600000, 86400000, "how long a healthy process runs before it is reported; then twice as long, ...") \
    X(snapshot_ms,            0, 300000, 86400000, "between two looks that growth is counted from") \
    /* rate limiter */ \
    X(depth_least,            0,      3,      32, "an event whose stacks are all shorter is dropped") \
    X(daily_cap,              1,     10,    1000, "reports of one stack in a day") \
    X(suppress_ms,              0,  60000, 3600000, "events of a stack are suppressed after a report for this times 1, 1, 2, 3, 5, ...; 0: never") \
    X(budget_ppm,           100,   5000, 1000000, "own CPU time, of one processor, averaged over a minute") \
    X(budget_peak_ppm,     1000,  30000, 1000000, "the same over a second") \
    X(budget_minute_ms,    1000,  60000,  600000, "the window of budget_ppm")

#define MIRE_SETTING_FIELD(name, least, normal, most, meaning) uint32_t name;
struct capture_settings {
    MIRE_SETTINGS(MIRE_SETTING_FIELD)
};

#define MIRE_SETTING_NORMAL(name, least, normal, most, meaning) .name = (normal),
#define MIRE_SETTINGS_INIT {MIRE_SETTINGS(MIRE_SETTING_NORMAL)}
/* clang-format on */

/*
 * Set one parameter by its name.
 * Returns MIRE_OK, MIRE_E_ARG (unknown name), MIRE_E_RANGE. After an error the settings are unchanged.
 * Thread: any.  Signal handler: yes.
 */
enum mire_err mire__settings_set(struct capture_settings *settings, const char *name, uint32_t value);

/* The same for a value from the server: beyond a bound it becomes the bound. Returns MIRE_OK, MIRE_E_ARG. */
enum mire_err mire__settings_wish(struct capture_settings *settings, const char *name, uint32_t value);

#endif
