/*
 * names.h - the names of a report's fields, in the order of schema/wire/report.schema.json.
 */
#ifndef MIRE_WIRE_NAMES_H
#define MIRE_WIRE_NAMES_H

#define MIRE_NAME_MIRE     "mire"
#define MIRE_NAME_ID       "id" /* of the report and of an image */
#define MIRE_NAME_KIND     "kind"
#define MIRE_NAME_APP      "app"
#define MIRE_NAME_DEVICE   "device"
#define MIRE_NAME_SDK      "sdk"
#define MIRE_NAME_SAMPLING "sampling"
#define MIRE_NAME_PROCESS  "process"
#define MIRE_NAME_IMAGES   "images"
#define MIRE_NAME_FRAMES   "frames" /* of the program; in the section hang of the display */
#define MIRE_NAME_NODES    "nodes"
#define MIRE_NAME_HANG     "hang" /* the section, the kind and the plugin in sampling */
#define MIRE_NAME_THREADS  "threads"
#define MIRE_NAME_COST     "cost"
#define MIRE_NAME_MICRO    "micro_hangs"
#define MIRE_NAME_DROPS    "drops"

#define MIRE_NAME_NAME    "name"
#define MIRE_NAME_VERSION "version"
#define MIRE_NAME_BUILD   "build"
#define MIRE_NAME_CHANNEL "channel"

#define MIRE_NAME_INSTALL      "install"
#define MIRE_NAME_OS           "os"
#define MIRE_NAME_OS_VERSION   "os_version"
#define MIRE_NAME_MODEL        "model"
#define MIRE_NAME_CLASS        "class"
#define MIRE_NAME_ARCH         "arch"
#define MIRE_NAME_CPU_COUNT    "cpu_count"
#define MIRE_NAME_MEMORY_BYTES "memory_bytes"

#define MIRE_NAME_PID           "pid"
#define MIRE_NAME_PATH          "path"
#define MIRE_NAME_START_WALL_MS "start_wall_ms"
#define MIRE_NAME_START_NS      "start_ns"
#define MIRE_NAME_THREAD_COUNT  "thread_count"
#define MIRE_NAME_CPU_USER_MS   "cpu_user_ms"
#define MIRE_NAME_CPU_SYSTEM_MS "cpu_system_ms"
#define MIRE_NAME_RSS_BYTES     "rss_bytes"

#define MIRE_NAME_LOAD   "load"
#define MIRE_NAME_SIZE   "size"
#define MIRE_NAME_IMAGE  "image"
#define MIRE_NAME_OFFSET "offset"
#define MIRE_NAME_FOUND  "found"
#define MIRE_NAME_UP     "up"
#define MIRE_NAME_FRAME  "frame"

#define MIRE_NAME_BEGIN_NS       "begin_ns"
#define MIRE_NAME_BEGIN_SLACK_MS "begin_slack_ms"
#define MIRE_NAME_BEGIN_WALL_MS  "begin_wall_ms"
#define MIRE_NAME_DURATION_MS    "duration_ms"
#define MIRE_NAME_THRESHOLD_MS   "threshold_ms"
#define MIRE_NAME_TRIGGER        "trigger"
#define MIRE_NAME_OPEN           "open"
#define MIRE_NAME_LAUNCH         "launch"
#define MIRE_NAME_FOREGROUND     "foreground"
#define MIRE_NAME_LATE_MS        "late_ms"
#define MIRE_NAME_SUSPENDED_MS   "suspended_ms"
#define MIRE_NAME_GATE           "gate"
#define MIRE_NAME_GUESS          "guess"
#define MIRE_NAME_LOCK           "lock"
#define MIRE_NAME_CPU            "cpu"
#define MIRE_NAME_DISK           "disk"
#define MIRE_NAME_ANNEALED       "annealed"
#define MIRE_NAME_THREAD         "thread"  /* the section, and the column in samples */
#define MIRE_NAME_SAMPLES        "samples" /* the section, and the count in cost */
#define MIRE_NAME_BLAME          "blame"
#define MIRE_NAME_HOT            "hot"

#define MIRE_NAME_ADDRESS       "address"
#define MIRE_NAME_OWNER_TID     "owner_tid"
#define MIRE_NAME_WINDOW_MS     "window_ms"
#define MIRE_NAME_PERCENT       "percent"
#define MIRE_NAME_LIMIT_PERCENT "limit_percent"
#define MIRE_NAME_LIMIT_BYTES   "limit_bytes"
#define MIRE_NAME_PERIOD_US     "period_us"
#define MIRE_NAME_TICKS         "ticks"
#define MIRE_NAME_DROPPED       "dropped"
#define MIRE_NAME_LONGEST_MS    "longest_ms"
#define MIRE_NAME_COUNT         "count" /* of annealed, and the column of micro_hangs */
#define MIRE_NAME_SHARE_PPM     "share_ppm"

#define MIRE_NAME_TID                  "tid"
#define MIRE_NAME_ROLE                 "role"
#define MIRE_NAME_CPU_MS               "cpu_ms"
#define MIRE_NAME_VOLUNTARY_SWITCHES   "voluntary_switches"
#define MIRE_NAME_INVOLUNTARY_SWITCHES "involuntary_switches"
#define MIRE_NAME_MAJOR_FAULTS         "major_faults"
#define MIRE_NAME_READ_BYTES           "read_bytes"
#define MIRE_NAME_WRITE_BYTES          "write_bytes"

#define MIRE_NAME_PERIOD_MS "period_ms"
#define MIRE_NAME_AT_MS     "at_ms"
#define MIRE_NAME_WEIGHT_MS "weight_ms"
#define MIRE_NAME_NODE      "node"
#define MIRE_NAME_STATE     "state"
#define MIRE_NAME_SYSCALL   "syscall"
#define MIRE_NAME_RUN       "run"
#define MIRE_NAME_REPEAT    "repeat"

#define MIRE_NAME_STOPPED_MAX_NS "stopped_max_ns"
#define MIRE_NAME_STOPPED_SUM_NS "stopped_sum_ns"
#define MIRE_NAME_UNWIND_SUM_NS  "unwind_sum_ns"
#define MIRE_NAME_WATCH_CPU_US   "watch_cpu_us"
#define MIRE_NAME_WAKEUPS        "wakeups"
#define MIRE_NAME_STORED_BYTES   "stored_bytes"
#define MIRE_NAME_PERIOD_RAISED  "period_raised"

#define MIRE_NAME_FROM_MS "from_ms"

#endif
