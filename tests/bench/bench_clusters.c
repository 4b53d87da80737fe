/*
 * Suggestions of similar issues, on human duplicate links of Eclipse's bug tracker (eclipse.h; another file of its kind
 * as argument): the second half of the reports asks for those before it. Beside it the same measure for FaST (Rodrigues
 * et al., MSR 2022) with its weights fixed, on the longest stack of each report; then the time one question takes among
 * 100,000 issues.
 *
 *   rr_at_k  share of the reports whose issue was known, and stood among the first k suggestions
 *   auc      chance that a report of a known issue has a higher best score than one of a new issue
 *   accepted_f1  BCubed F1 over clusters of several reports: reports go by their key, and every suggestion from a
 *                score on is accepted
 *
 * That is the protocol of that literature (FaST, TraceSim, S3M): in order of time; candidates are all earlier reports;
 * known is an issue of which a report came within 730 days; issues are ranked by their best report; document
 * frequencies are of what came before (FaST's here of everything: a help); links join reports also through reports that
 * are not in the file.
 *
 * The gates are absolute, and their baseline (FaST .794, .941, .823) was measured over all of the set, of whose newer
 * half 1515 of 8121 ask about a known issue. Of this file's, 189 of 4058 do; some have no function in common with what
 * they duplicate, and FaST has .635, .799, .803. So each figure is told twice: beside its gate, and as a ratio to FaST
 * in the same run beside the ratio that the gates ask for; the latter, speed and F1 decide what this program returns.
 * One question is .005 of RR.
 */
#include "base/arena.h"
#include "cluster/similar.h"
#include "eclipse.h"
#include "feature/feature.h"
#include "one_stack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW (730 * 86400) /* seconds; a link to something older asks too much */

#define GATE_RR1  0.81
#define GATE_RR10 0.95
#define GATE_AUC  0.84
#define GATE_F1   0.82
#define GOAL_RR1  (GATE_RR1 / 0.794)
#define GOAL_RR10 (GATE_RR10 / 0.941)
#define GOAL_AUC  (GATE_AUC / 0.823)
#define SUGGESTED 0.50 /* MIRE_NEARBY_SUGGEST */
#define GOAL_MS   5.0  /* of a question among 100,000 issues */

enum { FRAMES_MAX = 60, HITS = 10, SEEN = 40, ISSUES = 100000, QUESTIONS = 2000 };

struct entry {
    const struct eclipse_report *from;
    int64_t when_s;
    size_t issue;
    struct similar_stack stacks[MIRE_SIMILAR_STACKS]; /* longest first */
    size_t stack_count;
    uint8_t key[MIRE_FEATURE_KEY];
};

static struct eclipse_report *eclipse;
static struct entry *reports;
static size_t report_count;

static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

static bool same(const struct similar_stack *a, const struct similar_stack *b)
{
    return a->count == b->count && !memcmp(a->frames, b->frames, a->count * sizeof *a->frames);
}

/* Keep a stack among the longest ones. */
static void keep(struct entry *report, struct similar_stack stack)
{
    for (size_t i = 0; i < report->stack_count; i++)
        if (same(&report->stacks[i], &stack))
            return;
    size_t at = report->stack_count;
    while (at && report->stacks[at - 1].count < stack.count)
        at--;
    if (at == MIRE_SIMILAR_STACKS)
        return;
    size_t kept = report->stack_count < MIRE_SIMILAR_STACKS ? report->stack_count : MIRE_SIMILAR_STACKS - 1;
    memmove(&report->stacks[at + 1], &report->stacks[at], (kept - at) * sizeof stack);
    report->stacks[at] = stack;
    report->stack_count = kept + 1;
}

static void take(struct entry *report, const struct eclipse_report *from)
{
    *report = (struct entry){.from = from, .when_s = from->when_s, .issue = from->issue};
    for (size_t i = 0; i < from->stack_count; i++) {
        const struct eclipse_stack *stack = &from->stacks[i];
        uint64_t *frames = calloc(stack->count, sizeof *frames);
        for (size_t k = 0; k < stack->count; k++)
            frames[k] = hash(stack->names[k], strlen(stack->names[k]));
        keep(report, (struct similar_stack){frames, stack->count});
    }
}

/* The key that the server would give it. */
static bool find_key(struct entry *report, struct arena *arena, const struct rules *rules)
{
    static struct one_stack stack;
    const struct eclipse_stack *from = eclipse_longest(report->from);
    struct feature feature;
    one_stack_fill(&stack, from->names, from->count, "");
    stack.report.hang.trigger = "exception";
    stack.report.hang.name = from->exception;
    arena_reset(arena);
    if (feature_find(&feature, arena, &stack.doc, &stack.report, rules))
        return false;
    memcpy(report->key, feature.key, sizeof report->key);
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
    reports = calloc(report_count + 1, sizeof *reports);
    arena_init(&arena, 64u << 20);
    for (size_t i = 0; good && i < report_count; i++) {
        take(&reports[i], &eclipse[i]);
        good = find_key(&reports[i], &arena, rules);
    }
    arena_fini(&arena);
    rules_free(rules);
    return good;
}

static bool share_function(const struct entry *a, const struct entry *b)
{
    for (size_t s = 0; s < a->stack_count; s++)
        for (size_t t = 0; t < b->stack_count; t++)
            for (size_t i = 0; i < a->stacks[s].count; i++)
                for (size_t k = 0; k < b->stacks[t].count; k++)
                    if (a->stacks[s].frames[i] == b->stacks[t].frames[k])
                        return true;
    return false;
}

/* FaST: the longest stack, weights idf * exp(-0.1 position), distance exp(-0.2 d); df over everything known so far. */
struct frame_count {
    uint64_t name;
    unsigned reports;
};
static struct frame_count counts[1 << 20];

static struct frame_count *count_of(uint64_t name)
{
    size_t slot = name * 0x9E3779B97F4A7C15u >> 44;
    while (counts[slot].reports && counts[slot].name != name)
        slot = (slot + 1) % (1 << 20);
    counts[slot].name = name;
    return &counts[slot];
}

static size_t fast_frames(const struct entry *report)
{
    return report->stacks[0].count < FRAMES_MAX ? report->stacks[0].count : FRAMES_MAX;
}

static void fast_add(const struct entry *report)
{
    const uint64_t *frames = report->stacks[0].frames;
    for (size_t i = 0; i < fast_frames(report); i++) {
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = frames[k] == frames[i];
        if (!before)
            count_of(frames[i])->reports++;
    }
}

static void fast_weights(double *out, const struct entry *report, size_t known)
{
    for (size_t i = 0; i < fast_frames(report); i++) {
        unsigned have = count_of(report->stacks[0].frames[i])->reports;
        out[i] = log(1 + (double)known / (have ? have : 1)) * exp(-0.1 * (double)i);
    }
}

static double fast_likeness(const struct entry *a, const double *wa, const struct entry *b, const double *wb)
{
    const uint64_t *fa = a->stacks[0].frames, *fb = b->stacks[0].frames;
    bool used[FRAMES_MAX] = {false};
    double common = 0, total = 0;
    for (size_t k = 0; k < fast_frames(b); k++)
        total += wb[k];
    for (size_t i = 0; i < fast_frames(a); i++) {
        total += wa[i];
        for (size_t k = 0; k < fast_frames(b); k++) {
            if (used[k] || fa[i] != fb[k])
                continue;
            used[k] = true;
            common += (wa[i] + wb[k]) * exp(-0.2 * fabs((double)i - (double)k));
            break;
        }
    }
    return total > 0 ? common / total : 0;
}

/* The best issues by FaST, best first. */
static size_t fast_find(struct similar_hit *hits, const struct entry *asked, size_t known,
                        double (*weights)[FRAMES_MAX])
{
    double mine[FRAMES_MAX];
    size_t got = 0;
    fast_weights(mine, asked, known);
    for (size_t i = 0; i < known; i++) {
        if (asked->when_s - reports[i].when_s > WINDOW)
            continue;
        double score = fast_likeness(asked, mine, &reports[i], weights[i]);
        size_t issue = reports[i].issue;
        if (score <= 0)
            continue;
        size_t at = 0;
        while (at < got && (size_t)hits[at].issue != issue)
            at++;
        if (at == got) {
            if (got == HITS && hits[HITS - 1].score >= score)
                continue;
            at = got < HITS ? got++ : HITS - 1;
        } else if (hits[at].score >= score)
            continue;
        for (; at && hits[at - 1].score < score; at--)
            hits[at] = hits[at - 1];
        hits[at] = (struct similar_hit){.issue = (int64_t)issue, .score = score};
    }
    return got;
}

/* What is measured of one ranking. */
struct quality {
    size_t asked, first, tenth;
    double *known, *fresh; /* best scores */
    size_t known_count, fresh_count;
};

/* Does a question's issue have a report in the window before it, and one that has a function in common with it? */
static bool was_there(size_t at, bool *shares_out)
{
    bool there = false;
    for (size_t i = 0; i < at; i++) {
        if (reports[i].issue != reports[at].issue || reports[at].when_s - reports[i].when_s > WINDOW)
            continue;
        there = true;
        *shares_out |= share_function(&reports[i], &reports[at]);
    }
    return there;
}

static void judge(struct quality *quality, const struct entry *asked, const struct similar_hit *hits, size_t got,
                  bool known)
{
    double best = got ? hits[0].score : 0;
    if (!known) {
        quality->fresh[quality->fresh_count++] = best;
        return;
    }
    quality->asked++;
    quality->known[quality->known_count++] = best;
    for (size_t i = 0; i < got; i++) {
        if ((size_t)hits[i].issue != asked->issue)
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

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool tell(const char *name, double value, const char *unit, const char *sign, double goal)
{
    bool met = *sign == '>' ? value >= goal : value <= goal;
    printf("%-28s %8.3f %s | goal %s %.3f | %s\n", name, value, unit, sign, goal, met ? "ok" : "short");
    return met;
}

/* The issues most like a report, as the server suggests them: the later seen the likelier. */
static size_t suggest(struct similar_hit *hits, struct similar *similar, const struct entry *report)
{
    const struct similar_question question = {.stacks = report->stacks, .count = report->stack_count};
    int64_t gaps[SEEN];
    size_t got = 0;
    similar_find(hits, SEEN, &got, similar, &question);
    for (size_t i = 0; i < got; i++)
        gaps[i] = report->when_s - hits[i].newest_s;
    similar_age(hits, got, gaps);
    return got;
}

static void *array(size_t size)
{
    void *made = calloc(report_count + 1, size);
    if (!made)
        abort();
    return made;
}

static void print_quality(const struct quality *ours, const struct quality *theirs, size_t share)
{
    double asked = (double)ours->asked;
    printf("%zu reports, %zu of %zu questions about a known issue; %zu (%.3f) have a function in common with it: no "
           "comparison of functions finds more\n",
           report_count, ours->asked, ours->known_count + ours->fresh_count, share, (double)share / asked);
    printf("ours  rr_at_1 %.3f  rr_at_10 %.3f  auc %.3f\nFaST  rr_at_1 %.3f  rr_at_10 %.3f  auc %.3f\n",
           (double)ours->first / asked, (double)ours->tenth / asked, auc(ours), (double)theirs->first / asked,
           (double)theirs->tenth / asked, auc(theirs));
}

static bool tell_quality(const struct quality *ours, const struct quality *theirs)
{
    double asked = (double)ours->asked;
    tell("suggest_rr_at_1", (double)ours->first / asked, "of 1", ">=", GATE_RR1);
    tell("suggest_rr_at_10", (double)ours->tenth / asked, "of 1", ">=", GATE_RR10);
    tell("suggest_auc", auc(ours), "of 1", ">=", GATE_AUC);
    bool met = tell("suggest_rr_at_1_of_fast", (double)ours->first / (double)theirs->first, "x", ">=", GOAL_RR1);
    met &= tell("suggest_rr_at_10_of_fast", (double)ours->tenth / (double)theirs->tenth, "x", ">=", GOAL_RR10);
    return tell("suggest_auc_of_fast", auc(ours) / auc(theirs), "x", ">=", GOAL_AUC) && met;
}

static bool measure_quality(void)
{
    struct quality ours = {.known = array(sizeof(double)), .fresh = array(sizeof(double))};
    struct quality theirs = {.known = array(sizeof(double)), .fresh = array(sizeof(double))};
    double(*weights)[FRAMES_MAX] = array(sizeof *weights);
    struct similar *similar = similar_new();
    struct similar_hit hits[SEEN];
    size_t share = 0;
    for (size_t i = 0; i < report_count; i++)
        fast_add(&reports[i]);
    for (size_t i = 0; i < report_count; i++)
        fast_weights(weights[i], &reports[i], report_count);
    for (size_t i = 0; similar && i < report_count; i++) {
        const struct entry *report = &reports[i];
        if (i >= report_count / 2) {
            bool shares = false, known = was_there(i, &shares);
            share += shares;
            judge(&ours, report, hits, suggest(hits, similar, report), known);
            judge(&theirs, report, hits, fast_find(hits, report, i, weights), known);
        }
        similar_add(similar, (int64_t)report->issue, report->when_s, report->stacks, report->stack_count);
    }
    similar_free(similar);
    print_quality(&ours, &theirs, share);
    bool met = tell_quality(&ours, &theirs);
    free(ours.known);
    free(ours.fresh);
    free(theirs.known);
    free(theirs.fresh);
    free(weights);
    return met;
}

/* The first report with that key before it; itself: it is the first. */
static size_t first_of_key(size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!memcmp(reports[i].key, reports[at].key, sizeof reports[i].key))
            return i;
    return at;
}

/* What becomes of the reports if on-call accepts every suggestion from a score on, before those of `end` came: with
 * keys a report goes to the issue of its key, and only an issue that is opened asks what it is like; without, each
 * does.
 */
static struct bcubed accept_all(size_t begin, size_t end, double least, bool keys)
{
    int64_t *put = array(sizeof *put);
    struct similar *similar = similar_new();
    struct similar_hit hits[SEEN];
    for (size_t i = 0; similar && i < end; i++) {
        const struct entry *report = &reports[i];
        size_t first = keys ? first_of_key(i) : i;
        put[i] = first < i ? put[first] : (int64_t)i;
        if (first == i && suggest(hits, similar, report) && hits->score >= least)
            put[i] = hits->issue;
        similar_add(similar, put[i], report->when_s, report->stacks, report->stack_count);
    }
    similar_free(similar);
    struct bcubed judged = eclipse_judge(eclipse, begin, end, put);
    free(put);
    return judged;
}

/* The score from which on merges are suggested is chosen on the first half of the reports and measured on the second,
 * as it is and beside the one the server uses. */
static bool measure_accepted(void)
{
    double best = 0, chosen = 0;
    for (double least = 0.3; least < 0.76; least += 0.05) {
        double f1 = accept_all(0, report_count / 2, least, true).f1;
        chosen = f1 > best ? least : chosen;
        best = f1 > best ? f1 : best;
    }
    printf("key and suggestions accepted from a score on: %.2f is best for the first half (F1 %.3f), and gives %.3f on "
           "the second\n",
           chosen, best, accept_all(report_count / 2, report_count, chosen, true).f1);
    const struct bcubed both = accept_all(0, report_count, SUGGESTED, true);
    const struct bcubed alone = accept_all(0, report_count, SUGGESTED, false);
    printf("from %.2f on, all reports: with the key precision %.3f recall %.3f, without precision %.3f recall %.3f F1 "
           "%.3f\n",
           SUGGESTED, both.precision, both.recall, alone.precision, alone.recall, alone.f1);
    return tell("accepted_f1", both.f1, "of 1", ">=", GATE_F1);
}

/* Issues made of the reports' stacks: each with every third frame replaced, so that they differ. */
static bool measure_speed(void)
{
    struct similar *similar = similar_new();
    if (!similar)
        return false;
    srand(5);
    for (size_t i = 0; i < ISSUES; i++) {
        const struct similar_stack *stack = &reports[i % report_count].stacks[0];
        uint64_t frames[FRAMES_MAX];
        size_t count = stack->count < FRAMES_MAX ? stack->count : FRAMES_MAX;
        for (size_t k = 0; k < count; k++)
            frames[k] = i >= report_count && k % 3 == 0 ? (uint64_t)(rand() % 200000) : stack->frames[k];
        struct similar_stack made = {frames, count};
        if (similar_add(similar, (int64_t)i, 0, &made, 1))
            return false;
    }
    double begin = cpu_ms();
    for (size_t i = 0; i < QUESTIONS; i++) {
        const struct entry *report = &reports[i * 2654435761u % report_count];
        struct similar_hit hits[HITS];
        size_t got;
        const struct similar_question question = {.stacks = report->stacks, .count = report->stack_count};
        similar_find(hits, HITS, &got, similar, &question);
    }
    double each = (cpu_ms() - begin) / QUESTIONS;
    similar_free(similar);
    return tell("suggest_among_100000", each, "ms", "<=", GOAL_MS);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : ECLIPSE_FILE;
    if (!eclipse_read(&eclipse, &report_count, path)) {
        printf("skipped: %s is not there\n", path);
        return 0;
    }
    if (!take_all())
        return 1;
    bool met = measure_quality();
    met &= measure_accepted();
    return measure_speed() && met ? 0 : 1;
}
