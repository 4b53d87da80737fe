/*
 * eclipse.h - stack traces of Eclipse's bug tracker, whose users linked duplicates (../shared/data): a report a line of
 * JSON, with id, ts, dup[] and stacks[{exception, frames[]}].
 *
 *     1 <- 2, 7 <- 2, 7 <- 9    links, whatever their direction and even to reports that are not in the file
 *     {1, 2, 7, 9}              one issue
 */
#ifndef MIRE_BENCH_ECLIPSE_H
#define MIRE_BENCH_ECLIPSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECLIPSE_FILE MIRE_SOURCE_DIR "/../shared/data/stacks/eclipse-first-half.jsonl.gz"

struct eclipse_stack {
    const char *exception;
    const char **names; /* functions, innermost first: package.Class.method */
    size_t count;       /* at least 1 */
};

struct eclipse_report {
    long id;
    int64_t when_s;
    size_t issue; /* the same of all that links lead to */
    struct eclipse_stack *stacks;
    size_t stack_count; /* at least 1 */
};

/* Read all reports that have frames, oldest first; they stay until the process ends. False: the file cannot be read. */
bool eclipse_read(struct eclipse_report **out, size_t *count_out, const char *path);

/* The stack with most frames. */
const struct eclipse_stack *eclipse_longest(const struct eclipse_report *report);

struct bcubed {
    double precision, recall, f1;
    size_t judged; /* reports */
};

/* How well a grouping agrees with the links, over the reports from `begin` to `end` that have a duplicate among them
 * (BCubed). `put` has an issue for each report. */
struct bcubed eclipse_judge(const struct eclipse_report *reports, size_t begin, size_t end, const int64_t *put);

/* The same report by report. */
struct eclipse_mark {
    size_t issue;
    double precision, recall;
};

/* Returns how many are judged; the same ones in the same order whatever `put` says. */
size_t eclipse_each(struct eclipse_mark *marks, const struct eclipse_report *reports, size_t begin, size_t end,
                    const int64_t *put);

/*
 * Where F1 lies in 95 of 100 samples of the issues, drawn with replacement (bootstrap over clusters); with `beside`,
 * the marks of another grouping of the same reports, how far it is above that one's.
 *
 *   issues  more than any issue's number
 */
struct interval {
    double low, high;
};
struct interval eclipse_interval(const struct eclipse_mark *marks, const struct eclipse_mark *beside, size_t count,
                                 size_t issues);

#endif
