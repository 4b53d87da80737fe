/*
 * rules.c - reads packs and applies them, rule by rule: packs are short and places few.
 */
#include "feature/rules.h"

#include "feature/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rules_linux_c[]; /* made by the build from server/rules/linux-c.rules */
extern const size_t rules_linux_c_len;

struct rule {
    enum rule_class class;
    const char *module;
    const char *function;
    unsigned line;
};

struct rules {
    char *text;         /* the rules point into it */
    struct rules *next; /* asked when none of these fits; NULL: this is the last */
    bool builtin;
    int version;
    size_t count;
    struct rule rows[];
};

static const struct {
    const char *name;
    enum role role;
} classes[MIRE_CLASS_COUNT] = {
    [MIRE_CLASS_NONE] = {"", MIRE_ROLE_UNKNOWN},
    [MIRE_CLASS_APP] = {"app", MIRE_ROLE_APP},
    [MIRE_CLASS_SYSTEM] = {"system", MIRE_ROLE_SYSTEM},
    [MIRE_CLASS_RUNTIME] = {"runtime", MIRE_ROLE_RUNTIME},
    [MIRE_CLASS_CONTAINER] = {"container", MIRE_ROLE_RUNTIME},
    [MIRE_CLASS_ALLOCATOR] = {"allocator", MIRE_ROLE_ALLOCATOR},
    [MIRE_CLASS_SLEEP] = {"sleep", MIRE_ROLE_WAIT},
    [MIRE_CLASS_WAIT] = {"wait", MIRE_ROLE_WAIT},
    [MIRE_CLASS_IO] = {"io", MIRE_ROLE_IO},
    [MIRE_CLASS_LOCK] = {"lock", MIRE_ROLE_LOCK},
    [MIRE_CLASS_DISPATCH] = {"dispatch", MIRE_ROLE_DISPATCH},
};

enum role rule_role(enum rule_class rule)
{
    return (unsigned)rule < MIRE_CLASS_COUNT ? classes[rule].role : MIRE_ROLE_UNKNOWN;
}

bool glob_match(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *again = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            again = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static enum rule_class class_of(const char *name)
{
    for (unsigned i = 1; i < MIRE_CLASS_COUNT; i++)
        if (!strcmp(classes[i].name, name))
            return (enum rule_class)i;
    return MIRE_CLASS_NONE;
}

static enum rules_outcome parse_line(void *pack, struct rules_fault *fault, char *line, unsigned number)
{
    struct rules *rules = pack;
    char *first = pack_word(&line);
    char *second = pack_word(&line);
    char *rest = pack_rest(line);
    if (rules->count == MIRE_RULES_MAX)
        return pack_wrong(fault, number, "too many rules");
    if (!second)
        return pack_wrong(fault, number, "a class, a module and a function belong here");
    if (!rules->version) {
        char *end;
        long version = strtol(second, &end, 10);
        if (strcmp(first, "version") != 0 || *end || version < 1 || version > 1000000000 || *rest)
            return pack_wrong(fault, number, "a pack begins with: version NUMBER");
        rules->version = (int)version;
        return MIRE_RULES_OK;
    }
    struct rule rule = {class_of(first), second, rest, number};
    if (rule.class == MIRE_CLASS_NONE) {
        fault->line = number;
        snprintf(fault->text, sizeof fault->text, "no such class: %.60s", first);
        return MIRE_RULES_WRONG;
    }
    if (!*rest)
        return pack_wrong(fault, number, "the function is missing");
    rules->rows[rules->count++] = rule;
    return MIRE_RULES_OK;
}

enum rules_outcome rules_parse(struct rules **out, struct rules_fault *fault, const char *text, size_t len)
{
    unsigned lines = 0;
    struct rules *rules = calloc(1, sizeof *rules + MIRE_RULES_MAX * sizeof rules->rows[0]);
    enum rules_outcome outcome = rules ? pack_copy(&rules->text, fault, text, len) : MIRE_RULES_NO_MEMORY;
    if (outcome == MIRE_RULES_OK)
        outcome = pack_lines(&lines, rules->text, fault, parse_line, rules);
    if (outcome == MIRE_RULES_OK && !rules->version)
        outcome = pack_wrong(fault, lines, "a pack begins with: version NUMBER");
    if (outcome) {
        rules_free(rules);
        return outcome;
    }
    *out = rules;
    return MIRE_RULES_OK;
}

enum rules_outcome rules_builtin(struct rules **out, struct rules_fault *fault)
{
    enum rules_outcome outcome = rules_parse(out, fault, rules_linux_c, rules_linux_c_len);
    if (outcome == MIRE_RULES_OK)
        (*out)->builtin = true;
    return outcome;
}

static enum rules_outcome parse_file(struct rules **out, struct rules_fault *fault, const char *path)
{
    char *text = NULL;
    size_t len = 0;
    enum rules_outcome outcome = pack_read(&text, &len, fault, path);
    if (outcome == MIRE_RULES_OK)
        outcome = rules_parse(out, fault, text, len);
    free(text);
    return outcome;
}

enum rules_outcome rules_load(struct rules **out, struct rules_fault *fault, const char *path)
{
    struct rules *first = NULL;
    struct rules *builtin = NULL;
    enum rules_outcome outcome = rules_builtin(&builtin, fault);
    if (outcome == MIRE_RULES_OK && path && *path)
        outcome = parse_file(&first, fault, path);
    if (outcome != MIRE_RULES_OK) {
        rules_free(builtin);
        return outcome;
    }
    if (first)
        first->next = builtin;
    *out = first ? first : builtin;
    return MIRE_RULES_OK;
}

void rules_free(struct rules *rules)
{
    while (rules) {
        struct rules *next = rules->next;
        free(rules->text);
        free(rules);
        rules = next;
    }
}

int rules_version(const struct rules *rules)
{
    return rules->version + (rules->next ? rules->next->version : 0);
}

/*
 * The name behind the type a demangled template function returns: "bool std::equal<A>(A, A)" -> "std::equal<A>(A, A)".
 * Blanks in brackets, in "operator new" and in "(anonymous namespace)" end no type.
 */
static const char *behind_type(const char *function)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *name = function;
    int depth = 0;
    for (const char *at = function; *at; at++) {
        if (!strncmp(at, "operator", 8) && (at == name || at[-1] == ':'))
            break;
        if (!strncmp(at, nameless, sizeof nameless - 1))
            at += sizeof nameless - 2;
        else if (*at == '(' && !depth)
            break;
        else if (*at == '<' || *at == '(' || *at == '[')
            depth++;
        else if (*at == '>' || *at == ')' || *at == ']')
            depth--;
        else if (*at == ' ' && !depth)
            name = at + 1;
    }
    return name;
}

bool rules_find(struct rule_found *out, const struct rules *rules, const char *path, const char *function)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *name = behind_type(function);
    for (; rules; rules = rules->next) {
        for (size_t i = 0; i < rules->count; i++) {
            const struct rule *rule = &rules->rows[i];
            if (!glob_match(rule->module, strchr(rule->module, '/') ? path : base) || !glob_match(rule->function, name))
                continue;
            *out = (struct rule_found){rule->class, rule->module,   rule->function,
                                       rule->line,  rules->builtin, rules->version};
            return true;
        }
    }
    return false;
}

enum rule_class rules_classify(const struct rules *rules, const char *path, const char *function)
{
    struct rule_found found;
    return rules_find(&found, rules, path, function) ? found.class : MIRE_CLASS_NONE;
}

const char *rule_class_name(enum rule_class rule)
{
    return (unsigned)rule < MIRE_CLASS_COUNT ? classes[rule].name : "";
}
