/* eclipse.c - see eclipse.h. */
#include "eclipse.h"

#include <jansson.h>
#include <zlib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPORTS_MAX = 100000, IDS_MAX = 400000, LINE_MAX_BYTES = 4 << 20 };

/* One link, or a report's own id twice. */
struct link {
    long from, to;
};

struct reading {
    struct eclipse_report *reports;
    size_t report_count;
    struct link *links;
    size_t link_count;
};

static int64_t seconds_of(const char *text)
{
    struct tm tm = {0};
    sscanf(text, "%d-%d-%d %d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min);
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return timegm(&tm);
}

static void take_stack(struct eclipse_report *report, json_t *one)
{
    json_t *frames = json_object_get(one, "frames");
    size_t count = json_array_size(frames);
    if (!count)
        return;
    struct eclipse_stack *stack = &report->stacks[report->stack_count++];
    stack->exception = strdup(json_string_value(json_object_get(one, "exception")));
    stack->names = calloc(count, sizeof *stack->names);
    stack->count = count;
    for (size_t i = 0; i < count; i++) {
        const char *frame = json_string_value(json_array_get(frames, i)); /* a.b.C.m(C:12) */
        stack->names[i] = strndup(frame, strcspn(frame, "("));
    }
}

static void take_report(struct reading *all, json_t *row)
{
    struct eclipse_report *report = &all->reports[all->report_count];
    json_t *stacks = json_object_get(row, "stacks"), *one;
    long id = (long)json_integer_value(json_object_get(row, "id"));
    size_t i;
    all->links[all->link_count++] = (struct link){id, id};
    json_array_foreach(json_object_get(row, "dup"), i, one)
    {
        if (all->link_count < IDS_MAX)
            all->links[all->link_count++] = (struct link){id, (long)json_integer_value(one)};
    }
    *report = (struct eclipse_report){.id = id, .stacks = calloc(json_array_size(stacks) + 1, sizeof *report->stacks)};
    report->when_s = seconds_of(json_string_value(json_object_get(row, "ts")));
    json_array_foreach(stacks, i, one) take_stack(report, one);
    all->report_count += report->stack_count > 0;
}

static int by_number(const void *a, const void *b)
{
    long left = *(const long *)a, right = *(const long *)b;
    return (left > right) - (left < right);
}

static size_t root_of(size_t *up, size_t at)
{
    while (up[at] != at)
        at = up[at] = up[up[at]];
    return at;
}

/* Union-find over every id. */
static void link_reports(struct reading *all)
{
    size_t count = 0;
    long *ids = calloc(2 * all->link_count + 1, sizeof *ids);
    for (size_t i = 0; i < all->link_count; i++) {
        ids[count++] = all->links[i].from;
        ids[count++] = all->links[i].to;
    }
    qsort(ids, count, sizeof *ids, by_number);
    size_t *up = calloc(count + 1, sizeof *up);
    for (size_t i = 0; i < count; i++) /* equal ids are represented by the first one */
        up[i] = i && ids[i] == ids[i - 1] ? up[i - 1] : i;
    for (size_t i = 0; i < all->link_count; i++) {
        long *from = bsearch(&all->links[i].from, ids, count, sizeof *ids, by_number);
        long *to = bsearch(&all->links[i].to, ids, count, sizeof *ids, by_number);
        up[root_of(up, (size_t)(from - ids))] = root_of(up, (size_t)(to - ids));
    }
    for (size_t i = 0; i < all->report_count; i++) {
        long *own = bsearch(&all->reports[i].id, ids, count, sizeof *ids, by_number);
        all->reports[i].issue = root_of(up, (size_t)(own - ids));
    }
    free(up);
    free(ids);
}

static int by_time(const void *a, const void *b)
{
    const struct eclipse_report *left = a, *right = b;
    if (left->when_s != right->when_s)
        return left->when_s < right->when_s ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

bool eclipse_read(struct eclipse_report **out, size_t *count_out, const char *path)
{
    struct reading all = {.reports = calloc(REPORTS_MAX + 1, sizeof *all.reports),
                          .links = calloc(IDS_MAX + REPORTS_MAX, sizeof *all.links)};
    char *line = malloc(LINE_MAX_BYTES);
    gzFile file = gzopen(path, "rb");
    while (file && all.report_count < REPORTS_MAX && gzgets(file, line, LINE_MAX_BYTES)) {
        json_t *row = json_loads(line, 0, NULL);
        take_report(&all, row);
        json_decref(row);
    }
    free(line);
    if (!file)
        return false;
    gzclose(file);
    link_reports(&all);
    qsort(all.reports, all.report_count, sizeof *all.reports, by_time);
    free(all.links);
    *out = all.reports;
    *count_out = all.report_count;
    return true;
}

const struct eclipse_stack *eclipse_longest(const struct eclipse_report *report)
{
    const struct eclipse_stack *longest = report->stacks;
    for (size_t i = 1; i < report->stack_count; i++)
        if (report->stacks[i].count > longest->count)
            longest = &report->stacks[i];
    return longest;
}

static struct bcubed mean_of(double precision, double recall, double weight)
{
    struct bcubed all = {.precision = precision / weight, .recall = recall / weight};
    double sum = all.precision + all.recall;
    all.f1 = sum > 0 ? 2 * all.precision * all.recall / sum : 0;
    return all;
}

size_t eclipse_each(struct eclipse_mark *marks, const struct eclipse_report *reports, size_t begin, size_t end,
                    const int64_t *put)
{
    size_t *members = calloc(end + 1, sizeof *members), count = 0, judged = 0;
    bool *many = calloc(end + 1, sizeof *many);
    for (size_t i = begin; i < end; i++)
        for (size_t k = begin; k < end && !many[i]; k++)
            many[i] = k != i && reports[k].issue == reports[i].issue;
    for (size_t i = begin; i < end; i++)
        if (many[i])
            members[count++] = i;
    for (size_t i = 0; i < count; i++) {
        size_t linked = 0, together = 0, both = 0, issue = reports[members[i]].issue;
        for (size_t k = 0; k < count; k++) {
            bool same_issue = reports[members[k]].issue == issue, same_put = put[members[k]] == put[members[i]];
            linked += same_issue;
            together += same_put;
            both += same_issue && same_put;
        }
        marks[judged++] = (struct eclipse_mark){issue, (double)both / (double)together, (double)both / (double)linked};
    }
    free(members);
    free(many);
    return judged;
}

struct bcubed eclipse_judge(const struct eclipse_report *reports, size_t begin, size_t end, const int64_t *put)
{
    struct eclipse_mark *marks = calloc(end + 1, sizeof *marks);
    double precision = 0, recall = 0;
    size_t count = eclipse_each(marks, reports, begin, end, put);
    for (size_t i = 0; i < count; i++) {
        precision += marks[i].precision;
        recall += marks[i].recall;
    }
    free(marks);
    struct bcubed all = mean_of(precision, recall, count ? (double)count : 1);
    all.judged = count;
    return all;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Add a mark so many times. */
static void add(double *sums, const struct eclipse_mark *mark, unsigned times)
{
    sums[0] += mark->precision * times;
    sums[1] += mark->recall * times;
}

struct interval eclipse_interval(const struct eclipse_mark *marks, const struct eclipse_mark *beside, size_t count,
                                 size_t issues)
{
    enum { ROUNDS = 1000 };
    static double found[ROUNDS];
    unsigned *times = calloc(issues + 1, sizeof *times);
    size_t *known = calloc(count + 1, sizeof *known), known_count = 0;
    bool *seen = calloc(issues + 1, sizeof *seen);
    for (size_t i = 0; i < count; i++)
        if (!seen[marks[i].issue]) {
            seen[marks[i].issue] = true;
            known[known_count++] = marks[i].issue;
        }
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        double ours[2] = {0}, theirs[2] = {0}, weight = 0;
        memset(times, 0, (issues + 1) * sizeof *times);
        for (size_t i = 0; i < known_count; i++)
            times[known[(size_t)rand() % known_count]]++;
        for (size_t i = 0; i < count; i++) {
            weight += times[marks[i].issue];
            add(ours, &marks[i], times[marks[i].issue]);
            if (beside)
                add(theirs, &beside[i], times[marks[i].issue]);
        }
        found[round] = mean_of(ours[0], ours[1], weight).f1 - (beside ? mean_of(theirs[0], theirs[1], weight).f1 : 0);
    }
    qsort(found, ROUNDS, sizeof *found, by_value);
    free(times);
    free(known);
    free(seen);
    return (struct interval){found[ROUNDS / 40], found[ROUNDS - 1 - ROUNDS / 40]};
}
