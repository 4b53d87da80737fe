/*
 * eclipse.h - reads stack traces of Eclipse's bug tracker (ECLIPSE_FILE), whose users linked duplicates. Each line is a
 * report in JSON, with id, ts, dup[] and stacks[{exception, frames[]}].
 *
 *     1 <- 2, 7 <- 2, 7 <- 9    links of any direction, also to reports that are not in the file
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
    size_t issue; /* the same number for all linked reports */
    struct eclipse_stack *stacks;
    size_t stack_count; /* at least 1 */
};

/* Read all reports that have frames, oldest first. They are never freed. Returns false if the file cannot be read. */
bool eclipse_read(struct eclipse_report **out, size_t *count_out, const char *path);

/* The stack with the most frames. */
const struct eclipse_stack *eclipse_longest(const struct eclipse_report *report);

struct bcubed {
    double precision, recall, f1;
    size_t judged; /* number of reports */
};

/* Compare a grouping with the links (BCubed), over the reports from `begin` to `end` that have a duplicate in that
 * range. `put` has an issue for each report. */
struct bcubed eclipse_judge(const struct eclipse_report *reports, size_t begin, size_t end, const int64_t *put);

/* The same for a single report. */
struct eclipse_mark {
    size_t issue;
    double precision, recall;
};

/* Returns the number of marks; the judged reports and their order do not depend on `put`. */
size_t eclipse_each(struct eclipse_mark *marks, const struct eclipse_report *reports, size_t begin, size_t end,
                    const int64_t *put);

/*
 * The range of F1 in 95 of 100 samples of the issues, drawn with replacement (bootstrap over clusters). With `beside`,
 * the marks of another grouping of the same reports, it is the range of the difference of F1.
 *
 *   issues  more than any issue's number
 */
struct interval {
    double low, high;
};
struct interval eclipse_interval(const struct eclipse_mark *marks, const struct eclipse_mark *beside, size_t count,
                                 size_t issues);

#endif
