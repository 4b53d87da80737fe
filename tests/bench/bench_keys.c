/*
 * The server's own keys on stacks of which others know the truth (../shared/data):
 *
 *   caller1_of_kernel   logs of hung tasks, stalls and leaks that syzkaller's maintainers titled: share whose Caller1
 * is the function of the title (TITLE, or ALT: the same before syzkaller shortened it) skipped_of_kernel   of those
 * logs, how many have a Caller1 in a class that is passed over key_bcubed_f1       reports of Eclipse's bug tracker,
 * whose users linked duplicates: how well issues made of the key alone agree with the links (BCubed, over reports that
 * have a duplicate) key_us              CPU time of feature, key and issue of one report, median, after symbolication
 *
 * A stack goes through feature_find as a report of one sample; of Eclipse's reports the longest stack is taken.
 */
#include "cluster/cluster.h"
#include "feature/feature.h"
#include "klog.h"

#include <jansson.h>
#include <zlib.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DATA    MIRE_SOURCE_DIR "/../shared/data/stacks"
#define ECLIPSE DATA "/eclipse-first-half.jsonl.gz"
#define KERNEL  DATA "/syzkaller"

#define GOAL_CALLER1 0.92
#define GOAL_F1      0.78
#define GOAL_US      20.0

enum { REPORTS_MAX = 20000, FRAMES_MAX = 1024, ROUNDS = 3 };

static struct rules *rules;

/* One stack as a report of one sample. */
struct stack {
    struct resolved doc;
    struct report report;
    struct resolved_place places[FRAMES_MAX];
    struct resolved_node nodes[FRAMES_MAX + 1];
    struct report_sample sample;
    struct report_image image;
};

/* Names innermost first; `image` is the module they all lie in, "" for none. */
static void stack_fill(struct stack *s, const char *const *names, size_t count, const char *image)
{
    s->doc = (struct resolved){MIRE_RESOLVED_NOTHING, .places = s->places, .nodes = s->nodes, .samples = &s->sample};
    count = count < FRAMES_MAX ? count : FRAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        s->places[i] = (struct resolved_place){.function = names[i], .image = image, .file = "", .named = true};
        s->nodes[i + 1] = (struct resolved_node){(uint32_t)i, (uint32_t)(count - 1 - i)};
    }
    s->doc.place_count = count;
    s->doc.node_count = count + 1;
    s->doc.sample_count = 1;
    s->sample = (struct report_sample){.weight_ms = 1, .node = (uint32_t)count, .state = '?', .syscall = -1};
    s->image = (struct report_image){.name = image};
    s->report = (struct report){.image_count = image[0] ? 1 : 0, .images = &s->image};
    s->report.hang.trigger = "busy";
    s->report.hang.name = "";
    s->report.hang.sample_count = 1;
    s->report.device.arch = s->report.process.path = "";
}

static bool tell(const char *name, double value, const char *unit, const char *sign, double goal)
{
    bool met = *sign == '>' ? value >= goal : value <= goal;
    printf("%-28s %8.3f %s | goal %s %.3f | %s\n", name, value, unit, sign, goal, met ? "ok" : "short");
    return met;
}

/* The first stack of a log with somebody to blame; those before it are of threads that wait for work. */
static bool judge_log(char *caller1, size_t room, bool *skipped_out, struct arena *arena, const struct klog *log)
{
    static struct stack stack;
    const char *names[KLOG_FRAMES];
    *skipped_out = false;
    snprintf(caller1, room, "%s", "");
    for (size_t s = 0; s < log->stack_count; s++) {
        const struct klog_stack *from = &log->stacks[s];
        struct feature feature;
        for (size_t i = 0; i < from->count; i++)
            names[i] = from->frames[i];
        if (!from->count)
            continue;
        stack_fill(&stack, names, from->count, "vmlinux");
        if (feature_find(&feature, arena, &stack.doc, &stack.report, rules))
            return false;
        snprintf(caller1, room, "%s", feature.caller1.function);
        *skipped_out = stack.doc.places[stack.doc.verdict.place].role != MIRE_ROLE_APP;
        if (feature.category == MIRE_CATEGORY_HANG)
            return true;
    }
    return true;
}

static bool titled(const struct klog *log, const char *caller1)
{
    for (size_t i = 0; i < log->title_count; i++)
        if (!strcmp(log->titles[i], caller1))
            return true;
    return false;
}

static bool measure_kernel(void)
{
    static struct klog log;
    size_t asked = 0, right = 0, skipped = 0;
    struct dirent *entry;
    struct arena arena;
    DIR *dir = opendir(KERNEL);
    if (!dir) {
        printf("skipped: %s is not there\n", KERNEL);
        return true;
    }
    arena_init(&arena, 64u << 20);
    while ((entry = readdir(dir))) {
        char path[sizeof KERNEL + 300], caller1[256];
        bool passed;
        snprintf(path, sizeof path, "%s/%s", KERNEL, entry->d_name);
        if (entry->d_name[0] == '.' || !klog_read(&log, path) || log.corrupted || !log.title_count ||
            (strcmp(log.type, "HANG") != 0 && strcmp(log.type, "LEAK") != 0))
            continue;
        arena_reset(&arena);
        if (!judge_log(caller1, sizeof caller1, &passed, &arena, &log))
            return false;
        asked++;
        skipped += passed;
        if (titled(&log, caller1))
            right++;
        else
            printf("  %s/%s: %s, titled %s\n", "syzkaller", entry->d_name, caller1, log.titles[0]);
    }
    closedir(dir);
    arena_fini(&arena);
    printf("%zu uncorrupted logs of hangs and leaks, Caller1 as titled in %zu\n", asked, right);
    bool met = tell("caller1_of_kernel", (double)right / (double)(asked ? asked : 1), "of 1", ">=", GOAL_CALLER1);
    return tell("skipped_of_kernel", (double)skipped, "logs", "<=", 0) && met;
}

struct bug {
    long id;
    json_t *row;
    const char *exception;
    const char **names; /* of the longest stack, innermost first */
    size_t count;
    size_t issue; /* root of the links */
    uint8_t key[MIRE_FEATURE_KEY];
    double us;
};

static struct bug bugs[REPORTS_MAX];
static size_t bug_count;

static void take_bug(json_t *row)
{
    struct bug *bug = &bugs[bug_count];
    json_t *one, *best = NULL;
    size_t i;
    json_array_foreach(json_object_get(row, "stacks"), i, one)
    {
        size_t count = json_array_size(json_object_get(one, "frames"));
        if (count > bug->count) {
            bug->count = count;
            best = one;
        }
    }
    if (!best) {
        json_decref(row);
        return;
    }
    bug->row = row;
    bug->id = (long)json_integer_value(json_object_get(row, "id"));
    bug->exception = json_string_value(json_object_get(best, "exception"));
    bug->names = calloc(bug->count, sizeof *bug->names);
    for (i = 0; i < bug->count; i++) {
        const char *frame = json_string_value(json_array_get(json_object_get(best, "frames"), i));
        bug->names[i] = strndup(frame, strcspn(frame, "("));
    }
    bug_count++;
}

static size_t root_of(size_t *up, size_t at)
{
    while (up[at] != at)
        at = up[at] = up[up[at]];
    return at;
}

static int by_id(const void *a, const void *b)
{
    long left = ((const struct bug *)a)->id, right = ((const struct bug *)b)->id;
    return (left > right) - (left < right);
}

static void link_bugs(void)
{
    static size_t up[REPORTS_MAX];
    qsort(bugs, bug_count, sizeof *bugs, by_id);
    for (size_t i = 0; i < bug_count; i++)
        up[i] = i;
    for (size_t i = 0; i < bug_count; i++) {
        json_t *other;
        size_t k;
        json_array_foreach(json_object_get(bugs[i].row, "dup"), k, other)
        {
            const struct bug asked = {.id = (long)json_integer_value(other)};
            const struct bug *found = bsearch(&asked, bugs, bug_count, sizeof *bugs, by_id);
            if (found)
                up[root_of(up, (size_t)(found - bugs))] = root_of(up, i);
        }
    }
    for (size_t i = 0; i < bug_count; i++)
        bugs[i].issue = root_of(up, i);
}

static bool read_bugs(void)
{
    static char line[4 << 20];
    gzFile file = gzopen(ECLIPSE, "rb");
    while (file && bug_count < REPORTS_MAX && gzgets(file, line, sizeof line))
        take_bug(json_loads(line, 0, NULL));
    if (!file)
        return false;
    gzclose(file);
    link_bugs();
    return true;
}

/* BCubed over reports that have a duplicate: of each, what share of its issue by key is of its issue by links, and
 * back.
 */
static double bcubed_f1(void)
{
    static bool multi[REPORTS_MAX];
    double precision = 0, recall = 0;
    size_t count = 0;
    for (size_t i = 0; i < bug_count; i++)
        for (size_t k = 0; k < bug_count && !multi[i]; k++)
            multi[i] = k != i && bugs[k].issue == bugs[i].issue;
    for (size_t i = 0; i < bug_count; i++) {
        size_t keyed = 0, linked = 0, both = 0;
        if (!multi[i])
            continue;
        for (size_t k = 0; k < bug_count; k++) {
            bool same_key = multi[k] && !memcmp(bugs[k].key, bugs[i].key, sizeof bugs[i].key);
            bool same_issue = bugs[k].issue == bugs[i].issue;
            keyed += same_key;
            linked += same_issue;
            both += same_key && same_issue;
        }
        precision += (double)both / (double)keyed;
        recall += (double)both / (double)linked;
        count++;
    }
    precision /= (double)count;
    recall /= (double)count;
    printf("%zu reports, %zu of them with a duplicate: precision %.3f, recall %.3f\n", bug_count, count, precision,
           recall);
    return 2 * precision * recall / (precision + recall);
}

/* Known issues, in memory: what pg/ does, without the database. */
struct index {
    uint8_t keys[1 << 16][MIRE_FEATURE_KEY];
    int64_t issues[1 << 16];
    int64_t count;
};

static size_t slot_of(const struct index *index, const uint8_t *key)
{
    uint16_t at;
    memcpy(&at, key, sizeof at);
    while (index->issues[at] && memcmp(index->keys[at], key, MIRE_FEATURE_KEY) != 0)
        at++;
    return at;
}

static int find_issue(void *context, int64_t *out, int32_t app, const uint8_t key[MIRE_FEATURE_KEY_LEN])
{
    const struct index *index = context;
    (void)app;
    *out = index->issues[slot_of(index, key)];
    return *out != 0;
}

static int open_issue(void *context, int64_t *out, const struct issue_row *row)
{
    struct index *index = context;
    size_t at = slot_of(index, row->feature_key);
    memcpy(index->keys[at], row->feature_key, MIRE_FEATURE_KEY);
    *out = index->issues[at] = ++index->count;
    return 0;
}

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static bool key_one(struct bug *bug, struct arena *arena, struct index *known)
{
    static struct stack stack;
    const struct cluster_index index = {known, find_issue, open_issue};
    struct issue_row row = {.app_id = 1};
    struct feature feature;
    int64_t issue;
    stack_fill(&stack, bug->names, bug->count, "");
    stack.report.hang.trigger = "exception";
    stack.report.hang.name = bug->exception;
    arena_reset(arena);
    double begin = cpu_us();
    if (feature_find(&feature, arena, &stack.doc, &stack.report, rules))
        return false;
    memcpy(row.feature_key, feature.key, sizeof row.feature_key);
    bool good = cluster_assign(&issue, &index, &row) > 0;
    double us = cpu_us() - begin;
    bug->us = bug->us && bug->us < us ? bug->us : us;
    memcpy(bug->key, feature.key, sizeof bug->key);
    return good;
}

static int by_us(const void *a, const void *b)
{
    double left = ((const struct bug *)a)->us, right = ((const struct bug *)b)->us;
    return (left > right) - (left < right);
}

static bool measure_eclipse(void)
{
    static struct index known;
    struct arena arena;
    if (!read_bugs()) {
        printf("skipped: %s is not there\n", ECLIPSE);
        return true;
    }
    arena_init(&arena, 64u << 20);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < bug_count; i++)
            if (!key_one(&bugs[i], &arena, &known))
                return false;
    arena_fini(&arena);
    bool met = tell("key_bcubed_f1", bcubed_f1(), "of 1", ">=", GOAL_F1);
    qsort(bugs, bug_count, sizeof *bugs, by_us);
    return tell("key_us", bugs[bug_count / 2].us, "us", "<=", GOAL_US) && met;
}

int main(void)
{
    struct rules_fault fault;
    if (rules_builtin(&rules, &fault) != MIRE_RULES_OK) {
        printf("%s:%u: %s\n", fault.pack, fault.line, fault.text);
        return 1;
    }
    bool met = measure_kernel();
    met &= measure_eclipse();
    rules_free(rules);
    return met ? 0 : 1;
}
