/*
 * rules.c - reads packs: one row a rule, equal module patterns once.
 */
#include "feature/rules.h"

#include "base/scope.h"
#include "base/text.h"
#include "feature/pack.h"
#include "feature/packs.h"
#include "feature/rules_index.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum role role;
} classes[MIRE_CLASS_COUNT] = {
    [MIRE_CLASS_NONE] = {"", MIRE_ROLE_UNKNOWN},
    [MIRE_CLASS_APP] = {"app", MIRE_ROLE_APP},
    [MIRE_CLASS_SCENE] = {"scene", MIRE_ROLE_APP},
    [MIRE_CLASS_SYSTEM] = {"system", MIRE_ROLE_SYSTEM},
    [MIRE_CLASS_RUNTIME] = {"runtime", MIRE_ROLE_RUNTIME},
    [MIRE_CLASS_CONTAINER] = {"container", MIRE_ROLE_RUNTIME},
    [MIRE_CLASS_ALLOCATOR] = {"allocator", MIRE_ROLE_ALLOCATOR},
    [MIRE_CLASS_SLEEP] = {"sleep", MIRE_ROLE_WAIT},
    [MIRE_CLASS_WAIT] = {"wait", MIRE_ROLE_WAIT},
    [MIRE_CLASS_IO] = {"io", MIRE_ROLE_IO},
    [MIRE_CLASS_IPC] = {"ipc", MIRE_ROLE_WAIT},
    [MIRE_CLASS_LOCK] = {"lock", MIRE_ROLE_LOCK},
    [MIRE_CLASS_DISPATCH] = {"dispatch", MIRE_ROLE_DISPATCH},
    [MIRE_CLASS_MADE] = {"", MIRE_ROLE_RUNTIME},
    [MIRE_CLASS_IDLE] = {"idle", MIRE_ROLE_WAIT},
    [MIRE_CLASS_TRUNCATED] = {"truncated", MIRE_ROLE_UNKNOWN},
    [MIRE_CLASS_MEANINGLESS] = {"meaningless", MIRE_ROLE_UNKNOWN},
    [MIRE_CLASS_MOMENT] = {"moment", MIRE_ROLE_UNKNOWN},
    [MIRE_CLASS_OWN] = {"own", MIRE_ROLE_APP},
    [MIRE_CLASS_INTERPRETER] = {"interpreter", MIRE_ROLE_RUNTIME},
};

enum role rule_role(enum rule_class rule)
{
    return (unsigned)rule < MIRE_CLASS_COUNT ? classes[rule].role : MIRE_ROLE_UNKNOWN;
}

const char *rule_class_name(enum rule_class rule)
{
    return (unsigned)rule < MIRE_CLASS_COUNT ? classes[rule].name : "";
}

static enum rule_class class_of(const char *name)
{
    for (unsigned i = 1; i < MIRE_CLASS_COUNT; i++)
        if (!strcmp(classes[i].name, name))
            return (enum rule_class)i;
    return MIRE_CLASS_NONE;
}

/* As pack_wrong, with a word of the pack's in it. */
static enum rules_outcome wrong_word(struct rules_fault *fault, unsigned line, const char *what, const char *word,
                                     const char *instead)
{
    fault->line = line;
    snprintf(fault->text, sizeof fault->text, "%s: %.*s; write %s", what, TEXT_CUT(word, 30), instead);
    return MIRE_RULES_WRONG;
}

static enum rules_outcome read_pattern(struct pattern *out, struct rules_fault *fault, unsigned line, const char *text)
{
    const char *why = NULL;
    int rc = pattern_make(out, &why, text);
    if (rc < 0)
        return MIRE_RULES_NO_MEMORY;
    return rc ? pack_wrong(fault, line, why) : MIRE_RULES_OK;
}

/* Number of a module pattern; equal patterns have one number. */
static enum rules_outcome find_module(uint32_t *out, struct rules *rules, struct rules_fault *fault, unsigned line,
                                      const char *text)
{
    for (*out = 0; *out < rules->module_count; ++*out)
        if (!strcmp(rules->modules[*out].text, text))
            return MIRE_RULES_OK;
    if (rules->module_count == rules->module_room) {
        size_t room = rules->module_room ? rules->module_room * 2 : 64;
        struct pattern *more = realloc(rules->modules, room * sizeof *more);
        if (!more)
            return MIRE_RULES_NO_MEMORY;
        rules->modules = more;
        rules->module_room = room;
    }
    enum rules_outcome outcome = read_pattern(&rules->modules[rules->module_count], fault, line, text);
    rules->module_count += outcome == MIRE_RULES_OK;
    return outcome;
}

static enum rules_outcome read_condition(struct rule *rule, struct rules_fault *fault, unsigned line, const char *word)
{
    const char *value = strchr(word, '=') + 1;
    if (!strncmp(word, "file=", 5))
        return rule->file.text ? pack_wrong(fault, line, "file= stands here twice: leave one")
                               : read_pattern(&rule->file, fault, line, value);
    if (!strncmp(word, "lang=", 5)) {
        rule->language = language_of_name(value);
        return rule->language ? MIRE_RULES_OK
                              : wrong_word(fault, line, "no such language", value,
                                           "lang= and one of c, cpp, rust, go, java, kotlin, swift, objc, d, python,"
                                           " javascript");
    }
    rule->entry |= !strcmp(value, "entry");
    rule->leaf |= !strcmp(value, "leaf");
    return !strcmp(value, "entry") || !strcmp(value, "leaf")
               ? MIRE_RULES_OK
               : wrong_word(fault, line, "no such position", value, "at=entry or at=leaf");
}

static bool is_condition(const char *word)
{
    return !strncmp(word, "file=", 5) || !strncmp(word, "lang=", 5) || !strncmp(word, "at=", 3);
}

/* The conditions before the module; *module_out is the first word that is none, *written_out the conditions' set. */
static enum rules_outcome read_conditions(struct rule *rule, char **module_out, struct text *written,
                                          struct rules_fault *fault, char **line)
{
    enum rules_outcome outcome = MIRE_RULES_OK;
    char *word;
    while ((word = pack_word(line)) && is_condition(word) && !outcome) {
        outcome = read_condition(rule, fault, rule->line, word);
        text_printf(written, "%s ", word);
    }
    *module_out = word;
    return outcome;
}

static void rule_fini(struct rule *rule)
{
    pattern_fini(&rule->function);
    pattern_fini(&rule->file);
    free(rule->written);
}

static enum rules_outcome read_rule(struct rule *rule, struct rules *rules, struct rules_fault *fault, char *line)
{
    MIRE_SCOPED(text_fini) struct text written = {0};
    char *first = pack_word(&line);
    char *module;
    rule->class = class_of(first);
    if (rule->class == MIRE_CLASS_NONE)
        return wrong_word(fault, rule->line, "no such class", first,
                          "one of app, scene, system, runtime, container, allocator,"
                          " sleep, wait, io, ipc, lock, dispatch, idle, truncated, meaningless, moment, own,"
                          " interpreter");
    text_printf(&written, "%s ", first);
    enum rules_outcome outcome = read_conditions(rule, &module, &written, fault, &line);
    if (outcome)
        return outcome;
    char *function = pack_rest(line);
    bool whole = rule_class_is_of_module(rule->class);
    if (whole && module && !*function)
        function = "*";
    else if (whole)
        return pack_wrong(fault, rule->line,
                          rule->class == MIRE_CLASS_OWN ? "own says it of a whole module; write: own MODULE"
                                                        : "interpreter says it of a whole module; write: interpreter"
                                                          " MODULE");
    if (!module || !*function)
        return pack_wrong(fault, rule->line, "write: CLASS MODULE FUNCTION; * stands for any module or function");
    if (whole)
        text_printf(&written, "%s", module);
    else
        text_printf(&written, "%s %s", module, function);
    rule->written = text_failed(&written) ? NULL : strndup(written.bytes, written.len);
    if (!rule->written)
        return MIRE_RULES_NO_MEMORY;
    outcome = read_pattern(&rule->function, fault, rule->line, function);
    return outcome ? outcome : find_module(&rule->module, rules, fault, rule->line, module);
}

static enum rules_outcome add_rule(struct rules *rules, struct rules_fault *fault, char *line, unsigned number)
{
    struct rule_pack *pack = &rules->packs[rules->pack_count - 1];
    if (pack->rule_count == MIRE_RULES_MAX)
        return pack_wrong(fault, number, "too many rules: a pack has at most 4096");
    if (rules->count == rules->room) {
        size_t room = rules->room ? rules->room * 2 : 256;
        struct rule *more = realloc(rules->rows, room * sizeof *more);
        if (!more)
            return MIRE_RULES_NO_MEMORY;
        rules->rows = more;
        rules->room = room;
    }
    struct rule *rule = &rules->rows[rules->count];
    *rule = (struct rule){.line = number, .pack = (uint16_t)(rules->pack_count - 1)};
    enum rules_outcome outcome = read_rule(rule, rules, fault, line);
    if (outcome)
        rule_fini(rule);
    rules->count += !outcome;
    pack->rule_count += !outcome;
    return outcome;
}

static enum rules_outcome read_line(void *context, struct rules_fault *fault, char *line, unsigned number)
{
    struct rules *rules = context;
    struct rule_pack *pack = &rules->packs[rules->pack_count - 1];
    char *rest = line + strspn(line, " \t");
    bool tells = !strncmp(rest, "version", 7) && strchr(" \t", rest[7]);
    if (pack->version && tells)
        return pack_wrong(fault, number, "the version stands elsewhere already: delete this line");
    if (pack->version)
        return add_rule(rules, fault, line, number);
    char *end = rest;
    long version = tells ? strtol(rest + 7, &end, 10) : 0;
    if (!tells || version < 1 || version > 1000000000 || end[strspn(end, " \t")])
        return pack_wrong(fault, number, "a pack begins with a line: version NUMBER");
    pack->version = (int)version;
    return MIRE_RULES_OK;
}

/* Append a pack. */
static enum rules_outcome add_pack(struct rules *rules, struct rules_fault *fault, const struct rules_source *source,
                                   bool builtin)
{
    unsigned lines = 0;
    struct rule_pack *pack = &rules->packs[rules->pack_count];
    fault->pack = source->name;
    if (rules->pack_count == MIRE_PACKS_MAX)
        return pack_wrong(fault, 0, "too many packs");
    *pack = (struct rule_pack){.name = source->name,
                               .len = source->len,
                               .builtin = builtin,
                               .given = source->version,
                               .version = source->version};
    enum rules_outcome outcome = pack_copy(&pack->text, fault, source->text, source->len);
    if (outcome)
        return outcome;
    rules->pack_count++;
    pack->original = strndup(source->text, source->len);
    if (!pack->original)
        return MIRE_RULES_NO_MEMORY;
    outcome = pack_lines(&lines, pack->text, fault, read_line, rules);
    if (!outcome && !pack->version)
        outcome = pack_wrong(fault, lines, "a pack begins with a line: version NUMBER");
    return outcome;
}

/* Make rules of packs, in order; the last `builtin` packs are the built-in ones. */
static enum rules_outcome make(struct rules **out, struct rules_fault *fault, const struct rules_source *sources,
                               size_t count, size_t builtin)
{
    static _Atomic uint64_t
        made; /* written by every thread that makes rules; relaxed: each takes a number of its own */
    struct rules *rules = calloc(1, sizeof *rules);
    enum rules_outcome outcome = rules ? MIRE_RULES_OK : MIRE_RULES_NO_MEMORY;
    for (size_t i = 0; i < count && !outcome; i++)
        outcome = add_pack(rules, fault, &sources[i], i + builtin >= count);
    if (!outcome && rules_index_make(rules))
        outcome = MIRE_RULES_NO_MEMORY;
    if (outcome) {
        rules_free(rules);
        return outcome;
    }
    rules->number = 1 + atomic_fetch_add_explicit(&made, 1, memory_order_relaxed);
    *out = rules;
    return MIRE_RULES_OK;
}

enum rules_outcome rules_parse(struct rules **out, struct rules_fault *fault, const char *text, size_t len)
{
    const struct rules_source source = {"extra", text, len, 0};
    return make(out, fault, &source, 1, 0);
}

enum rules_outcome rules_make(struct rules **out, struct rules_fault *fault, const struct rules_source *sources,
                              size_t count)
{
    struct rules_source all[MIRE_PACKS_MAX + 1];
    size_t builtin = packs_builtin_count;
    fault->pack = "";
    if (count + builtin > MIRE_PACKS_MAX)
        return pack_wrong(fault, 0, "too many packs");
    if (count)
        memcpy(all, sources, count * sizeof *all);
    for (size_t i = 0; i < builtin; i++)
        all[count + i] = (struct rules_source){packs_builtin[i].name, packs_builtin[i].text, *packs_builtin[i].len, 0};
    return make(out, fault, all, count + builtin, builtin);
}

enum rules_outcome rules_before(struct rules **out, struct rules_fault *fault, const struct rules_source *source,
                                const struct rules *base)
{
    struct rules_source all[MIRE_PACKS_MAX + 1] = {*source};
    size_t builtin = 0;
    for (size_t i = 0; i < base->pack_count; i++) {
        const struct rule_pack *pack = &base->packs[i];
        all[i + 1] = (struct rules_source){pack->name, pack->original, pack->len, pack->given};
        builtin += pack->builtin;
    }
    return make(out, fault, all, base->pack_count + 1, builtin);
}

enum rules_outcome rules_builtin(struct rules **out, struct rules_fault *fault)
{
    return rules_make(out, fault, NULL, 0);
}

enum rules_outcome rules_load(struct rules **out, struct rules_fault *fault, const char *path)
{
    struct rules_source source = {.name = "extra"};
    char *text = NULL;
    if (!path || !*path)
        return rules_builtin(out, fault);
    fault->pack = source.name;
    enum rules_outcome outcome = pack_read(&text, &source.len, fault, path);
    source.text = text;
    if (outcome == MIRE_RULES_OK)
        outcome = rules_make(out, fault, &source, 1);
    free(text);
    return outcome;
}

void rules_free(struct rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        rule_fini(&rules->rows[i]);
    for (size_t i = 0; i < rules->module_count; i++)
        pattern_fini(&rules->modules[i]);
    for (size_t i = 0; i < rules->pack_count; i++) {
        free(rules->packs[i].text);
        free(rules->packs[i].original);
    }
    rules_index_fini(rules);
    free(rules->rows);
    free(rules->modules);
    free(rules);
}

int rules_version(const struct rules *rules)
{
    int sum = 0;
    for (size_t i = 0; i < rules->pack_count; i++)
        sum += rules->packs[i].version;
    return sum;
}

uint64_t rules_number(const struct rules *rules)
{
    return rules->number;
}

size_t rules_pack_count(const struct rules *rules)
{
    return rules->pack_count;
}

struct rules_pack rules_pack(const struct rules *rules, size_t at)
{
    const struct rule_pack *pack = &rules->packs[at];
    return (struct rules_pack){pack->name, pack->version, pack->builtin, pack->rule_count, pack->original};
}
