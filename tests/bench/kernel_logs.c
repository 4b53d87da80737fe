/* kernel_logs.c - see kernel_logs.h. Each log is read once; its stacks are judged again for every selection of
 * rules. */
#include "kernel_logs.h"

#include "feature/feature.h"
#include "klog.h"
#include "one_stack.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOAL_CALLER1 0.92
#define GOAL_LEFT    0.85

enum { LINES = 1024, LOGS = 1024 };

struct log {
    struct klog *text;
    char file[256];
    bool asked;       /* a hang or a leak */
    size_t family;    /* number of the first log with its title */
    bool used[LINES]; /* lines of the pack that decide the class of one of its frames */
};

struct bench {
    struct arena arena;
    const char *pack; /* the kernel's pack, unparsed */
    struct rules *all;
    struct log *logs;
    size_t count;
};

static bool tell(const char *name, double value, const char *unit, const char *sign, double goal, bool given)
{
    bool met = *sign == '>' ? value >= goal : value <= goal;
    if (given)
        printf("%-28s %8.3f %s | goal %s %.3f | %s\n", name, value, unit, sign, goal, met ? "ok" : "short");
    else
        printf("%-28s %8.3f %s\n", name, value, unit);
    return met || !given;
}

static bool titled(const struct klog *log, const char *caller1)
{
    for (size_t i = 0; i < log->title_count; i++)
        if (!strcmp(log->titles[i], caller1))
            return true;
    return false;
}

/* Caller1 of the first stack that has one; stacks before it are of idle threads. */
struct judged {
    char caller1[256];
    bool skipped; /* its class is skipped */
};

static bool judge(struct judged *out, struct bench *b, const struct klog *log, const struct rules *rules)
{
    static struct one_stack stack;
    const char *names[KLOG_FRAMES];
    *out = (struct judged){0};
    for (size_t s = 0; s < log->stack_count; s++) {
        const struct klog_stack *from = &log->stacks[s];
        struct feature feature;
        for (size_t i = 0; i < from->count; i++)
            names[i] = from->frames[i];
        if (!from->count)
            continue;
        arena_reset(&b->arena);
        one_stack_fill(&stack, names, from->count, "vmlinux");
        if (feature_find(&feature, &b->arena, &stack.doc, &stack.report, rules, NULL))
            return false;
        snprintf(out->caller1, sizeof out->caller1, "%s", feature.caller1.function);
        out->skipped = stack.doc.locations[stack.doc.verdict.location].role != MIRE_ROLE_APP;
        if (feature.category == MIRE_CATEGORY_HANG)
            return true;
    }
    return true;
}

/* Note the lines of the pack that decide a frame in any stack of the log. */
static void note_used(struct log *log, const struct bench *b, const struct rules_module *module)
{
    for (size_t s = 0; s < log->text->stack_count; s++)
        for (size_t i = 0; i < log->text->stacks[s].count; i++) {
            const char *name = log->text->stacks[s].frames[i];
            const struct rules_subject subject = {
                .module = module, .function = name, .file = "", .language = language_of(name, "")};
            struct rule_found found, mark;
            rules_find(&found, &mark, b->all, &subject);
            log->used[found.line < LINES ? found.line : 0] = true;
            log->used[mark.line < LINES ? mark.line : 0] = true;
        }
}

/* The pack without the lines that are not kept. */
static struct rules *some_rules(const char *pack, const bool *kept)
{
    struct rules *rules = NULL;
    struct rules_fault fault;
    char *text = strdup(pack);
    unsigned number = 1;
    for (char *line = text; line; number++) {
        char *next = strchr(line, '\n');
        if (!kept[number < LINES ? number : 0] && *line != '\n' && *line && strncmp(line, "version", 7) != 0)
            *line = '#';
        line = next ? next + 1 : NULL;
    }
    if (!text || rules_parse(&rules, &fault, text, strlen(text)) != MIRE_RULES_OK)
        rules = NULL;
    free(text);
    return rules;
}

static bool same_stacks(const struct klog *a, const struct klog *b)
{
    if (strcmp(a->titles[0], b->titles[0]) != 0 || a->stack_count != b->stack_count)
        return false;
    for (size_t s = 0; s < a->stack_count; s++) {
        if (a->stacks[s].count != b->stacks[s].count)
            return false;
        for (size_t i = 0; i < a->stacks[s].count; i++)
            if (strcmp(a->stacks[s].frames[i], b->stacks[s].frames[i]) != 0)
                return false;
    }
    return true;
}

static bool is_asked(const struct klog *log)
{
    return !strcmp(log->type, "HANG") || !strcmp(log->type, "LEAK");
}

/* Returns false for a duplicate. */
static bool add_log(struct bench *b, struct klog *text, const char *file, const struct rules_module *module)
{
    struct log *log = &b->logs[b->count];
    *log = (struct log){.text = text, .asked = is_asked(text), .family = b->count};
    for (size_t i = b->count; i-- > 0;) {
        if (same_stacks(b->logs[i].text, text))
            return false;
        if (!strcmp(b->logs[i].text->titles[0], text->titles[0]))
            log->family = b->logs[i].family;
    }
    snprintf(log->file, sizeof log->file, "%s", file);
    note_used(log, b, module);
    b->count++;
    return true;
}

static int by_age(const void *a, const void *b)
{
    return atoi((*(const struct dirent *const *)a)->d_name) - atoi((*(const struct dirent *const *)b)->d_name);
}

static bool read_logs(struct bench *b, const char *folder)
{
    struct rules_module module;
    struct arena arena;
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, NULL);
    arena_init(&arena, 1u << 20);
    bool good = count >= 0 && !rules_module(&module, &arena, b->all, "vmlinux");
    if (good)
        qsort(entries, (size_t)count, sizeof(struct dirent *), by_age);
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct klog *log = malloc(sizeof *log);
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        bool read = good && log && entries[i]->d_name[0] != '.' && b->count < LOGS && klog_read(log, path) &&
                    !log->corrupted && log->title_count;
        if (!read || !add_log(b, log, entries[i]->d_name, &module))
            free(log);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    arena_fini(&arena);
    return good;
}

/* Judge the logs from `from` on, of one family or of all. */
#define EVERY SIZE_MAX

struct score {
    size_t right, skipped, of;
};

static void judge_some(struct score *score, struct bench *b, const struct rules *rules, size_t from, size_t family,
                       const char *heading)
{
    for (size_t i = from; i < b->count; i++) {
        struct log *log = &b->logs[i];
        struct judged judged;
        if (!log->asked || (family != EVERY && log->family != family))
            continue;
        bool right = judge(&judged, b, log->text, rules) && titled(log->text, judged.caller1);
        score->of++;
        score->right += right;
        score->skipped += judged.skipped;
        if (!right && heading)
            printf("  %s%s: %s, titled %s\n", heading, log->file, judged.caller1, log->text->titles[0]);
    }
}

/* Judge each family by the rules of other families' logs: of all types, or of hangs and leaks. */
static void leave_one_out(struct score *score, struct bench *b, bool asked, const char *heading)
{
    for (size_t family = 0; family < b->count; family++) {
        bool kept[LINES] = {false};
        if (b->logs[family].family != family)
            continue;
        for (size_t i = 0; i < b->count; i++)
            for (size_t line = 0; line < LINES && b->logs[i].family != family && (!asked || b->logs[i].asked); line++)
                kept[line] |= b->logs[i].used[line];
        struct rules *rules = some_rules(b->pack, kept);
        if (rules)
            judge_some(score, b, rules, 0, family, heading);
        rules_free(rules);
    }
}

/* Judge the newest third by the rules that all older logs use. */
static void newest_third(struct score *score, struct bench *b, size_t asked)
{
    bool kept[LINES] = {false};
    size_t from = b->count, left = asked / 3;
    while (from && left)
        left -= b->logs[--from].asked;
    for (size_t i = 0; i < from; i++)
        for (size_t line = 0; line < LINES; line++)
            kept[line] |= b->logs[i].used[line];
    struct rules *rules = some_rules(b->pack, kept);
    if (rules)
        judge_some(score, b, rules, from, EVERY, "newest, ");
    rules_free(rules);
}

static double share(const struct score *score)
{
    return score->of ? (double)score->right / (double)score->of : 0;
}

static bool measure(struct bench *b, const char *folder, bool given)
{
    struct score all = {0}, left = {0}, alone = {0}, newest = {0};
    if (!read_logs(b, folder)) {
        printf("skipped: %s is not there\n", folder);
        return true;
    }
    judge_some(&all, b, b->all, 0, EVERY, "");
    printf("%zu logs with a title, %zu of them of hangs and leaks; Caller1 as titled in %zu\n", b->count, all.of,
           all.right);
    bool met = tell("caller1_of_kernel", share(&all), "of 1", ">=", GOAL_CALLER1, given);
    met &= tell("skipped_of_kernel", (double)all.skipped, "logs", "<=", 0, given);
    if (!given)
        return met;
    leave_one_out(&left, b, false, "left out, ");
    leave_one_out(&alone, b, true, NULL);
    newest_third(&newest, b, all.of);
    met &= tell("kernel_caller1_leave_one_out", share(&left), "of 1", ">=", GOAL_LEFT, true);
    tell("... by hangs and leaks alone", share(&alone), "of 1", ">=", 0, false);
    tell("kernel_caller1_newest_third", share(&newest), "of 1", ">=", 0, false);
    return met;
}

static const char *kernel_pack(const struct rules *rules)
{
    for (size_t i = 0; i < rules_pack_count(rules); i++)
        if (!strcmp(rules_pack(rules, i).name, "kernel"))
            return rules_pack(rules, i).text;
    return "";
}

/* (^|_) and ([._]|$) match the ends of a word; ~(lock|wait) is two rules in one. */
static bool has_alternatives(const char *pack)
{
    for (const char *at = pack; (at = strchr(at, '|')); at++)
        if (at == pack || (at[-1] != '^' && at[1] != '$'))
            return true;
    return false;
}

bool kernel_logs_measure(const struct rules *rules, const char *folder, bool given)
{
    struct bench b = {.pack = kernel_pack(rules), .logs = calloc(LOGS, sizeof *b.logs)};
    struct rules_fault fault;
    bool met = b.logs && rules_parse(&b.all, &fault, b.pack, strlen(b.pack)) == MIRE_RULES_OK;
    arena_init(&b.arena, 64u << 20);
    if (has_alternatives(b.pack)) {
        printf("kernel.rules: a rule has alternatives; write one rule for each\n");
        met = false;
    }
    met = met && measure(&b, folder, given);
    for (size_t i = 0; i < b.count; i++)
        free(b.logs[i].text);
    free(b.logs);
    rules_free(b.all);
    arena_fini(&b.arena);
    return met;
}
