/* suspect_rules.c - reads rules for suspects; a file's own are asked before the built-in ones. */
#include "feature/suspect_rules.h"

#include "feature/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rules_memory[]; /* made by the build from server/rules/memory.rules */
extern const size_t rules_memory_len;

#define NUMBERS 5 /* bytes, objects, grown, times, share */

/* "12", "32MiB", or "-" for none. */
static bool number(struct fact *out, const char *text)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    char *end;
    *out = (struct fact){0};
    if (!strcmp(text, "-"))
        return true;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) != 0 || value > UINT64_MAX >> units[i].shift)
            continue;
        *out = (struct fact){value << units[i].shift, true};
        return errno == 0;
    }
    return false;
}

static enum rules_outcome parse_rule(struct suspect_rules *rules, struct rules_fault *fault, char *line, unsigned at)
{
    struct fact numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        char *text = pack_word(&line);
        if (!text)
            return pack_wrong(fault, at, "five numbers, a kind and a category belong here");
        if (!number(&numbers[i], text))
            return pack_wrong(fault, at, "a number, with KiB, MiB or GiB behind it or nothing, or - belongs here");
    }
    char *kind = pack_word(&line);
    char *name = pack_rest(line);
    if (!kind || !*name)
        return pack_wrong(fault, at, "five numbers, a kind and a category belong here");
    enum memory_kind number_of = strcmp(kind, "*") ? memory_kind_of(kind) : MIRE_MEMORY_KIND_COUNT;
    if (strcmp(kind, "*") != 0 && number_of == MIRE_MEMORY_KIND_COUNT)
        return pack_wrong(fault, at, "the kind is heap, vm, object or *");
    rules->rows[rules->count++] = (struct suspect_rule){.kind = number_of,
                                                        .name = name,
                                                        .line = at,
                                                        .bytes = numbers[0],
                                                        .objects = numbers[1],
                                                        .grown = numbers[2],
                                                        .times = numbers[3],
                                                        .share = numbers[4]};
    return MIRE_RULES_OK;
}

static enum rules_outcome parse_version(struct suspect_rules *rules, struct rules_fault *fault, char *line, unsigned at)
{
    struct fact version = {0};
    char *first = pack_word(&line);
    char *second = pack_word(&line);
    if (!first || strcmp(first, "version") != 0 || !second || !number(&version, second) || !version.value ||
        version.value > 1000000000 || pack_word(&line))
        return pack_wrong(fault, at, "a pack begins with: version NUMBER");
    rules->version = (int)version.value;
    return MIRE_RULES_OK;
}

static enum rules_outcome parse_line(void *pack, struct rules_fault *fault, char *line, unsigned at)
{
    struct suspect_rules *rules = pack;
    if (rules->count == MIRE_SUSPECT_RULES_MAX)
        return pack_wrong(fault, at, "too many rules");
    return rules->version ? parse_rule(rules, fault, line, at) : parse_version(rules, fault, line, at);
}

enum rules_outcome suspect_rules_parse(struct suspect_rules **out, struct rules_fault *fault, const char *text,
                                       size_t len)
{
    unsigned lines = 0;
    struct suspect_rules *rules = calloc(1, sizeof *rules);
    enum rules_outcome outcome = rules ? pack_copy(&rules->text, fault, text, len) : MIRE_RULES_NO_MEMORY;
    if (outcome == MIRE_RULES_OK)
        outcome = pack_lines(&lines, rules->text, fault, parse_line, rules);
    if (outcome == MIRE_RULES_OK && !rules->version)
        outcome = pack_wrong(fault, lines, "a pack begins with: version NUMBER");
    if (outcome) {
        suspect_rules_free(rules);
        return outcome;
    }
    *out = rules;
    return MIRE_RULES_OK;
}

enum rules_outcome suspect_rules_builtin(struct suspect_rules **out, struct rules_fault *fault)
{
    return suspect_rules_parse(out, fault, rules_memory, rules_memory_len);
}

static enum rules_outcome parse_file(struct suspect_rules **out, struct rules_fault *fault, const char *path)
{
    char *text = NULL;
    size_t len = 0;
    enum rules_outcome outcome = pack_read(&text, &len, fault, path);
    if (outcome == MIRE_RULES_OK)
        outcome = suspect_rules_parse(out, fault, text, len);
    free(text);
    return outcome;
}

enum rules_outcome suspect_rules_load(struct suspect_rules **out, struct rules_fault *fault, const char *path)
{
    struct suspect_rules *first = NULL;
    struct suspect_rules *builtin = NULL;
    enum rules_outcome outcome = suspect_rules_builtin(&builtin, fault);
    if (outcome == MIRE_RULES_OK && path && *path)
        outcome = parse_file(&first, fault, path);
    if (outcome != MIRE_RULES_OK) {
        suspect_rules_free(builtin);
        return outcome;
    }
    if (first)
        first->next = builtin;
    *out = first ? first : builtin;
    return MIRE_RULES_OK;
}

void suspect_rules_free(struct suspect_rules *rules)
{
    while (rules) {
        struct suspect_rules *next = rules->next;
        free(rules->text);
        free(rules);
        rules = next;
    }
}

int suspect_rules_version(const struct suspect_rules *rules)
{
    return rules->version + (rules->next ? rules->next->version : 0);
}
