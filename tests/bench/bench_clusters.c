/*
 * Issues and suggestions, compared with duplicate links by people in Eclipse's bug tracker (eclipse.h; or another file
 * of that form as argument). All choices (rules, scenes that are joined, the score for suggesting a merge) were made on
 * the older two thirds of the reports; the newest third is only measured. Each report passes through the functions of
 * mired: feature_find, cluster_assign, characteristic_frames, similar_add, similar_find, similar_age.
 *
 *   key_f1        BCubed F1, over reports with a duplicate in the range, of the issues as the server opens and joins
 *                 them; beside Caller1 alone, and exception with the three innermost app frames, of the same run
 *   accepted_f1   the same if on-call accepts every suggestion: a new issue asks with the stack it was opened with;
 *                 beside "each report joins its nearest neighbour by FaST (fast.h) from a score on"
 *   rr_at_k       share of the questions about a known issue in which it is among the first k suggestions
 *   auc           probability that such a question has a higher best score than one about a new issue
 *
 * Questions are those of the literature (FaST, TraceSim, S3M): every report of the range asks for all reports before
 * it. An issue is known if one of its reports came within the 730 days before. Links join reports also through reports
 * that are not in the file. Intervals are of 1000 samples of the links' issues; one question is about .01 of RR.
 * Finally the time of one question among 100,000 issues is measured.
 */
#include "base/arena.h"
#include "cluster/similar.h"
#include "eclipse.h"
#include "fast.h"
#include "feature/feature.h"
#include "feature/characteristic.h"
#include "known.h"
#include "one_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUGGESTED      0.60 /* MIRE_NEARBY_SUGGEST */
#define GOAL_PRECISION 0.75
#define GOAL_THREE     0.01 /* below exception and three frames */
#define GOAL_RR1       1.02 /* of FaST's */
#define GOAL_RR10      1.01
#define GOAL_AUC       1.02
#define GOAL_MS        5.0 /* a question among 100,000 issues */

enum { HITS = 10, SEEN = 40, ISSUES = 100000, QUESTIONS = 2000, THREE = 3, TREES = 1 << 16 };

struct entry {
    int64_t when_s;
    int64_t caller1, three; /* hashes */
    uint8_t key[MIRE_FEATURE_KEY], blame[MIRE_FEATURE_KEY];
    bool joins;
    int32_t tree;
    uint64_t frames[MIRE_FRAMES_MAX];
    struct similar_stack stack;
};

static struct eclipse_report *eclipse;
static struct entry *reports;
static size_t report_count, issue_count;

static void *array(size_t size)
{
    void *made = calloc(report_count + 1, size);
    if (!made)
        abort();
    return made;
}

static uint64_t hash(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u; /* FNV-1a */
    return (hash ^ 0xff) * 1099511628211u;
}

/* --- reports, as the server reads them --- */

/* The stack's data for the similarity index. */
static void take_frames(struct entry *report, const struct resolved *doc)
{
    struct frame_line lines[MIRE_FRAMES_MAX];
    uint32_t locations[MIRE_FRAMES_MAX];
    size_t count = doc->location_count < MIRE_FRAMES_MAX ? doc->location_count : MIRE_FRAMES_MAX;
    for (size_t i = 0; i < count; i++)
        lines[i] = (struct frame_line){doc->locations[i].role, doc->locations[i].function, doc->locations[i].image};
    report->stack.frames = report->frames;
    report->stack.count = characteristic_frames(report->frames, locations, lines, count);
}

static bool take(struct entry *report, const struct eclipse_report *from, struct arena *arena,
                 const struct rules *rules)
{
    static struct one_stack stack;
    const struct eclipse_stack *longest = eclipse_longest(from);
    struct feature feature;
    size_t app = 0;
    one_stack_fill(&stack, longest->names, longest->count, "");
    stack.report.event.trigger = "exception";
    stack.report.event.name = longest->exception;
    arena_reset(arena);
    if (feature_find(&feature, arena, &stack.doc, &stack.report, rules, NULL))
        return false;
    *report = (struct entry){.when_s = from->when_s, .joins = feature.joins, .tree = feature.tree};
    memcpy(report->key, feature.key, sizeof report->key);
    memcpy(report->blame, feature.blame, sizeof report->blame);
    take_frames(report, &stack.doc);
    uint64_t three = hash(0, longest->exception);
    for (size_t i = 0; i < stack.doc.location_count && app < THREE; i++) {
        if (stack.doc.locations[i].role != MIRE_ROLE_APP)
            continue;
        three = hash(three, longest->names[i]);
        app++;
    }
    report->three = (int64_t)three;
    report->caller1 = (int64_t)hash(0, feature.caller1.name ? feature.caller1.name->key : feature.caller1.function);
    return true;
}

static bool take_all(void)
{
    struct rules_fault fault;
    struct rules *rules;
    struct arena arena;
    bool good = rules_builtin(&rules, &fault) == MIRE_RULES_OK;
    if (!good)
        return false;
    reports = array(sizeof *reports);
    arena_init(&arena, 64u << 20);
    for (size_t i = 0; good && i < report_count; i++) {
        good = take(&reports[i], &eclipse[i], &arena, rules);
        issue_count = eclipse[i].issue >= issue_count ? eclipse[i].issue + 1 : issue_count;
    }
    arena_fini(&arena);
    rules_free(rules);
    return good;
}

/* An issue keeps one stack of each call tree. Returns true for a new tree. */
static bool is_new_tree(int64_t issue, int32_t tree)
{
    static struct {
        int64_t issue;
        int32_t tree;
    } seen[TREES];
    size_t at = ((uint64_t)issue * 0x9E3779B97F4A7C15u ^ (uint32_t)tree * 0x85EBCA6Bu) >> 20 & (TREES - 1);
    while (seen[at].issue && (seen[at].issue != issue || seen[at].tree != tree))
        at = (at + 1) & (TREES - 1);
    bool is_new = !seen[at].issue;
    seen[at].issue = issue;
    seen[at].tree = tree;
    return is_new;
}

/* The issues most like a report, as the server suggests them: later ones rank higher. */
static size_t suggest(struct similar_hit *hits, struct similar *similar, const struct entry *report)
{
    const struct similar_question question = {.stacks = &report->stack, .count = 1};
    int64_t gaps[SEEN];
    size_t got = 0;
    similar_find(hits, SEEN, &got, similar, &question);
    for (size_t i = 0; i < got; i++)
        gaps[i] = report->when_s - hits[i].newest_s;
    similar_age(hits, got, gaps);
    return got;
}

/*
 * The issue that each report is shown in, and the same if every suggestion from a score on is accepted.
 *   least  one score for each column of `accepted`
 */
static void group(int64_t *shown, int64_t **accepted, const double *least, size_t columns)
{
    static struct known known;
    const struct cluster_index index = known_index(&known);
    int64_t *moved[16]; /* by issue: the issue it was merged into */
    struct similar *similar[16];
    struct similar_hit hits[SEEN];
    for (size_t c = 0; c < columns; c++) {
        moved[c] = calloc(KNOWN_ROOM, sizeof *moved[c]);
        similar[c] = similar_new();
    }
    for (size_t i = 0; i < report_count; i++) {
        const struct entry *report = &reports[i];
        struct issue_row row = {.app_id = 1, .joins = report->joins};
        int64_t issue;
        memcpy(row.feature_key, report->key, sizeof row.feature_key);
        memcpy(row.blame_key, report->blame, sizeof row.blame_key);
        bool opened = cluster_assign(&issue, &index, &row) == MIRE_CLUSTER_NEW;
        bool is_new = is_new_tree(issue, report->tree);
        shown[i] = known.shown[issue];
        for (size_t c = 0; c < columns; c++) {
            int64_t *into = &moved[c][shown[i]];
            if (!*into)
                *into = shown[i];
            if (opened && shown[i] == issue && suggest(hits, similar[c], report) && hits->score >= least[c])
                *into = hits->issue;
            accepted[c][i] = *into;
            if (is_new)
                similar_add(similar[c], *into, report->when_s, &report->stack, 1);
        }
    }
    for (size_t c = 0; c < columns; c++) {
        free(moved[c]);
        similar_free(similar[c]);
    }
}

/* --- measurements --- */

static bool tell(const char *name, double value, const char *unit, const char *sign, double goal)
{
    bool met = *sign == '>' ? value >= goal : value <= goal;
    printf("%-28s %8.3f %s | goal %s %.3f | %s\n", name, value, unit, sign, goal, met ? "ok" : "short");
    return met;
}

struct grouping {
    struct bcubed judged;
    struct eclipse_mark *marks;
    size_t count;
};

/* Print the quality of a grouping, on the newest third and on all reports; with `beside`, the difference from
 * another. */
static struct grouping look(const char *name, const int64_t *put, const struct grouping *beside)
{
    size_t begin = report_count / 3 * 2;
    struct grouping out = {.judged = eclipse_judge(eclipse, begin, report_count, put),
                           .marks = array(sizeof *out.marks)};
    const struct bcubed all = eclipse_judge(eclipse, 0, report_count, put);
    out.count = eclipse_each(out.marks, eclipse, begin, report_count, put);
    const struct interval f1 = eclipse_interval(out.marks, NULL, out.count, issue_count);
    printf("%-26s newest third: precision %.3f recall %.3f F1 %.3f (%.3f to %.3f); all: %.3f %.3f %.3f", name,
           out.judged.precision, out.judged.recall, out.judged.f1, f1.low, f1.high, all.precision, all.recall, all.f1);
    if (beside) {
        const struct interval above = eclipse_interval(out.marks, beside->marks, out.count, issue_count);
        printf("; above the line before by %+.3f to %+.3f", above.low, above.high);
    }
    putchar('\n');
    return out;
}

static double f1_older(const int64_t *put)
{
    return eclipse_judge(eclipse, 0, report_count / 3 * 2, put).f1;
}

static void put_three(int64_t *put)
{
    for (size_t i = 0; i < report_count; i++)
        put[i] = reports[i].three;
}

static void put_caller1(int64_t *put)
{
    for (size_t i = 0; i < report_count; i++)
        put[i] = reports[i].caller1;
}

static bool measure_keys(const int64_t *shown)
{
    int64_t *put = array(sizeof *put);
    put_three(put);
    const struct grouping three = look("exception, three frames", put, NULL);
    put_caller1(put);
    const struct grouping caller1 = look("Caller1 alone", put, NULL);
    const struct grouping key = look("issues", shown, &caller1);
    free(put);
    bool met = tell("key_f1_caller1", key.judged.f1, "of 1", ">=", caller1.judged.f1);
    return tell("key_f1_three_frames", key.judged.f1, "of 1", ">=", three.judged.f1 - GOAL_THREE) && met;
}

/* --- rankings --- */

struct quality {
    size_t asked, first, tenth;
    double *known, *fresh; /* best scores */
    size_t known_count, fresh_count;
};

/* Returns true if the question's issue has an earlier report in the window. */
static bool was_there(size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (eclipse[i].issue == eclipse[at].issue && reports[at].when_s - reports[i].when_s <= FAST_WINDOW)
            return true;
    return false;
}

static void judge(struct quality *quality, size_t asked, const struct similar_hit *hits, size_t got, bool known)
{
    double best = got ? hits[0].score : 0;
    if (!known) {
        quality->fresh[quality->fresh_count++] = best;
        return;
    }
    quality->asked++;
    quality->known[quality->known_count++] = best;
    for (size_t i = 0; i < got; i++) {
        if ((size_t)hits[i].issue != eclipse[asked].issue)
            continue;
        quality->first += i == 0;
        quality->tenth += i < 10;
        break;
    }
}

static double auc(const struct quality *quality)
{
    double won = 0;
    for (size_t i = 0; i < quality->known_count; i++)
        for (size_t k = 0; k < quality->fresh_count; k++)
            won += quality->known[i] > quality->fresh[k] ? 1 : quality->known[i] == quality->fresh[k] ? 0.5 : 0;
    return won / ((double)quality->known_count * (double)quality->fresh_count);
}

static bool tell_quality(const struct quality *ours, const struct quality *theirs)
{
    double asked = (double)ours->asked;
    printf("%zu reports, %zu of %zu questions of the newest third about a known issue\n", report_count, ours->asked,
           ours->known_count + ours->fresh_count);
    printf("ours  rr_at_1 %.3f  rr_at_10 %.3f  auc %.3f\nFaST  rr_at_1 %.3f  rr_at_10 %.3f  auc %.3f\n",
           (double)ours->first / asked, (double)ours->tenth / asked, auc(ours), (double)theirs->first / asked,
           (double)theirs->tenth / asked, auc(theirs));
    bool met = tell("suggest_rr_at_1_of_fast", (double)ours->first / (double)theirs->first, "x", ">=", GOAL_RR1);
    met &= tell("suggest_rr_at_10_of_fast", (double)ours->tenth / (double)theirs->tenth, "x", ">=", GOAL_RR10);
    return tell("suggest_auc_of_fast", auc(ours) / auc(theirs), "x", ">=", GOAL_AUC) && met;
}

/* Measure both rankings. The outputs are each report's nearest neighbour by FaST, and its score. */
static bool measure_quality(size_t *nearest, double *near)
{
    struct quality ours = {.known = array(sizeof(double)), .fresh = array(sizeof(double))};
    struct quality theirs = {.known = array(sizeof(double)), .fresh = array(sizeof(double))};
    struct similar *similar = similar_new();
    struct fast *fast = fast_new(eclipse, report_count);
    struct similar_hit hits[SEEN];
    for (size_t i = 0; i < report_count; i++) {
        size_t got = fast_find(hits, HITS, &nearest[i], fast, i);
        bool asked = i >= report_count / 3 * 2, known = asked && was_there(i);
        near[i] = got ? hits[0].score : 0;
        if (asked) {
            judge(&theirs, i, hits, got, known);
            judge(&ours, i, hits, suggest(hits, similar, &reports[i]), known);
        }
        similar_add(similar, (int64_t)eclipse[i].issue, reports[i].when_s, &reports[i].stack, 1);
    }
    similar_free(similar);
    return tell_quality(&ours, &theirs);
}

/* --- suggestions accepted --- */

static void put_nearest(int64_t *put, const size_t *nearest, const double *near, double least)
{
    for (size_t i = 0; i < report_count; i++)
        put[i] = nearest[i] < i && near[i] >= least ? put[nearest[i]] : (int64_t)i;
}

/* The baseline's score is chosen on the older reports, as ours was. */
static struct grouping look_nearest(const size_t *nearest, const double *near)
{
    int64_t *put = array(sizeof *put);
    char name[40];
    double best = 0, chosen = 0;
    for (double least = 0.1; least < 0.86; least += 0.05) {
        put_nearest(put, nearest, near, least);
        double f1 = f1_older(put);
        chosen = f1 > best ? least : chosen;
        best = f1 > best ? f1 : best;
    }
    snprintf(name, sizeof name, "nearest by FaST from %.2f", chosen);
    put_nearest(put, nearest, near, chosen);
    struct grouping out = look(name, put, NULL);
    free(put);
    return out;
}

static bool measure_accepted(int64_t *const *accepted, const double *least, size_t columns, const size_t *nearest,
                             const double *near)
{
    printf("suggestions accepted from a score on, F1 of the older two thirds:");
    for (size_t c = 1; c < columns; c++)
        printf(" %.2f %.3f", least[c], f1_older(accepted[c]));
    putchar('\n');
    const struct grouping theirs = look_nearest(nearest, near);
    const struct grouping ours = look("issues and suggestions", accepted[0], &theirs);
    bool met = tell("accepted_f1_fast", ours.judged.f1, "of 1", ">=", theirs.judged.f1);
    return tell("accepted_precision", ours.judged.precision, "of 1", ">=", GOAL_PRECISION) && met;
}

/* --- speed --- */

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Issues from the reports' stacks, each with every third frame replaced, so that they differ. */
static bool measure_speed(void)
{
    struct similar *similar = similar_new();
    if (!similar)
        return false;
    srand(5);
    for (size_t i = 0; i < ISSUES; i++) {
        const struct similar_stack *stack = &reports[i % report_count].stack;
        uint64_t frames[MIRE_FRAMES_MAX];
        for (size_t k = 0; k < stack->count; k++)
            frames[k] = i >= report_count && k % 3 == 0 ? (uint64_t)(rand() % 200000) : stack->frames[k];
        struct similar_stack made = {frames, stack->count};
        if (similar_add(similar, (int64_t)i, 0, &made, 1))
            return false;
    }
    double begin = cpu_ms();
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct similar_hit hits[HITS];
        size_t got;
        const struct similar_question question = {.stacks = &reports[i * 2654435761u % report_count].stack, .count = 1};
        similar_find(hits, HITS, &got, similar, &question);
    }
    double each = (cpu_ms() - begin) / QUESTIONS;
    similar_free(similar);
    return tell("suggest_among_100000", each, "ms", "<=", GOAL_MS);
}

int main(int argc, char **argv)
{
    static const double least[] = {SUGGESTED, 0.40, 0.50, 0.55, 0.60, 0.65, 0.70};
    enum { COLUMNS = sizeof least / sizeof *least };
    const char *path = argc > 1 ? argv[1] : ECLIPSE_FILE;
    int64_t *accepted[COLUMNS];
    if (!eclipse_read(&eclipse, &report_count, path)) {
        printf("skipped: %s is not there\n", path);
        return 0;
    }
    if (!take_all())
        return 1;
    int64_t *shown = array(sizeof *shown);
    for (size_t c = 0; c < COLUMNS; c++)
        accepted[c] = array(sizeof *accepted[c]);
    size_t *nearest = array(sizeof *nearest);
    double *near = array(sizeof *near);
    group(shown, accepted, least, COLUMNS);
    bool met = measure_keys(shown);
    met &= measure_quality(nearest, near);
    met &= measure_accepted(accepted, least, COLUMNS, nearest, near);
    return measure_speed() && met ? 0 : 1;
}
