/* rules_index.c - see rules_index.h. */
#include "feature/rules_index.h"

#include "base/fault.h"
#include "base/path.h"
#include "feature/names.h"

#include <stdlib.h>
#include <string.h>

static bool has_bit(const uint64_t *bits, size_t at)
{
    return bits[at / 64] >> at % 64 & 1;
}

static void set_bit(uint64_t *bits, size_t at)
{
    bits[at / 64] |= 1ull << at % 64;
}

/* The rules of whole modules. */
static int list_own(struct rules *rules)
{
    rules->own = calloc(rules->count + 1, sizeof *rules->own);
    for (size_t i = 0; rules->own && i < rules->count; i++)
        if (rule_class_is_of_module(rules->rows[i].class))
            rules->own[rules->own_count++] = (uint32_t)i;
    return rules->own ? 0 : -1;
}

static struct prefix literal_of(const struct pattern *pattern, size_t number)
{
    return (struct prefix){pattern->text, (uint32_t)pattern->literal, (uint32_t)number};
}

static int plant_functions(struct rules *rules, struct prefix *texts)
{
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++)
        if (!rule_class_is_of_module(rules->rows[i].class))
            texts[count++] = literal_of(&rules->rows[i].function, i);
    return prefixes_make(&rules->functions, texts, count);
}

static int plant_modules(struct prefixes *out, const struct rules *rules, struct prefix *texts, bool path)
{
    size_t count = 0;
    for (size_t i = 0; i < rules->module_count; i++)
        if (rules->modules[i].path == path)
            texts[count++] = literal_of(&rules->modules[i], i);
    return prefixes_make(out, texts, count);
}

int rules_index_make(struct rules *rules)
{
    struct prefix *texts = calloc(rules->count + rules->module_count + 1, sizeof *texts);
    bool good = texts && !list_own(rules) && !plant_functions(rules, texts) &&
                !plant_modules(&rules->by_name, rules, texts, false) &&
                !plant_modules(&rules->by_folder, rules, texts, true);
    free(texts);
    return good ? 0 : -1;
}

void rules_index_fini(struct rules *rules)
{
    prefixes_fini(&rules->functions);
    prefixes_fini(&rules->by_name);
    prefixes_fini(&rules->by_folder);
    free(rules->own);
}

static bool fits_path(const struct pattern *pattern, const char *path)
{
    return pattern_match(pattern, pattern->path ? path : path_base(path));
}

/* List the rules that fit the module, among the ones that every name is asked. */
static int list_any(struct rules_module *out, struct arena *arena, const struct rules *rules)
{
    const struct prefix_node *root = &rules->functions.nodes[0];
    const uint32_t *numbers = &rules->functions.numbers[root->first];
    out->any_count = 0;
    out->any = arena_array(arena, root->count, sizeof *out->any);
    if (!out->any)
        return MIRE_FAULT_MEMORY;
    for (uint32_t i = 0; i < root->count; i++)
        if (has_bit(out->fits, rules->rows[numbers[i]].module))
            out->any[out->any_count++] = (struct rules_any){rules->rows[numbers[i]].function.pairs, numbers[i]};
    return 0;
}

static struct rule_found found_at(const struct rules *rules, uint32_t number)
{
    if (number == UINT32_MAX)
        return (struct rule_found){.class = MIRE_CLASS_NONE, .text = "", .pack = ""};
    const struct rule *rule = &rules->rows[number];
    const struct rule_pack *pack = &rules->packs[rule->pack];
    return (struct rule_found){.class = rule->class,
                               .text = rule->written,
                               .line = rule->line,
                               .pack = pack->name,
                               .version = pack->version,
                               .builtin = pack->builtin,
                               .by_path = pack->builtin && rules->modules[rule->module].path &&
                                          !strcmp(rule->function.text, "*")};
}

/* The first rule that names the class of the module decides. */
static void say_of_module(struct rules_module *out, const struct rules *rules, uint32_t number)
{
    if (rules->rows[number].class == MIRE_CLASS_OWN)
        out->own = true;
    else if (out->interpreter.class == MIRE_CLASS_NONE)
        out->interpreter = found_at(rules, number);
}

static void fit_modules(struct rules_module *out, const struct rules *rules, const struct prefixes *tree,
                        const char *subject)
{
    for (const struct prefix_node *node = tree->nodes; node; node = prefixes_next(tree, node, subject))
        for (uint32_t i = 0; i < node->count; i++) {
            uint32_t number = tree->numbers[node->first + i];
            if (pattern_match_rest(&rules->modules[number], subject))
                set_bit(out->fits, number);
        }
}

int rules_module(struct rules_module *out, struct arena *arena, const struct rules *rules, const char *path)
{
    out->own = false;
    out->interpreter = found_at(rules, UINT32_MAX);
    out->fits = arena_array(arena, rules->module_count / 64 + 1, sizeof *out->fits);
    if (!out->fits)
        return MIRE_FAULT_MEMORY;
    fit_modules(out, rules, &rules->by_name, path_base(path));
    fit_modules(out, rules, &rules->by_folder, path);
    for (size_t i = 0; i < rules->own_count; i++)
        if (has_bit(out->fits, rules->rows[rules->own[i]].module))
            say_of_module(out, rules, rules->own[i]);
    return list_any(out, arena, rules);
}

/* Does the rule fit a name that begins as its function does? */
static bool fits(const struct rule *rule, const struct rules_subject *subject, const char *name)
{
    return has_bit(subject->module->fits, rule->module) && pattern_match_rest(&rule->function, name) &&
           (rule->language == MIRE_LANGUAGE_UNKNOWN || rule->language == subject->language ||
            (rule->language == MIRE_LANGUAGE_JAVA && subject->language == MIRE_LANGUAGE_KOTLIN)) &&
           (!rule->entry || subject->entry) && (!rule->leaf || subject->leaf) &&
           (!rule->file.text || fits_path(&rule->file, subject->file));
}

/* A name that is looked for, and the first rules found: one that says a class, one that marks; 0: not asked for. */
struct rule_search {
    const struct rules *rules;
    const struct rules_subject *subject;
    const char *name;
    uint32_t best[2];
};

static void try_rule(struct rule_search *search, uint32_t number)
{
    const struct rule *rule = &search->rules->rows[number];
    uint32_t *best = &search->best[rule->class >= MIRE_CLASS_IDLE];
    if (number < *best && fits(rule, search->subject, search->name))
        *best = number;
}

void rules_find(struct rule_found *out, struct rule_found *mark_out, const struct rules *rules,
                const struct rules_subject *subject)
{
    struct rule_found *outs[] = {out, mark_out};
    const struct rules_module *module = subject->module;
    struct rule_search search = {
        rules, subject, name_behind_type(subject->function), {out ? UINT32_MAX : 0, mark_out ? UINT32_MAX : 0}};
    const uint64_t pairs = module->any_count ? pairs_of(search.name) : 0;
    const struct prefix_node *node = rules->functions.nodes;
    for (size_t i = 0; i < module->any_count; i++)
        if (pairs_hold(pairs, module->any[i].pairs))
            try_rule(&search, module->any[i].number);
    while ((node = prefixes_next(&rules->functions, node, search.name)))
        for (uint32_t i = 0; i < node->count; i++)
            try_rule(&search, rules->functions.numbers[node->first + i]);
    for (int i = 0; i < 2; i++)
        if (outs[i])
            *outs[i] = found_at(rules, search.best[i]);
}

enum rule_class rules_classify(const struct rules *rules, const char *path, const char *function)
{
    struct arena arena;
    struct rules_module module;
    struct rule_found found = {.class = MIRE_CLASS_NONE};
    arena_init(&arena, 1u << 20);
    if (!rules_module(&module, &arena, rules, path)) {
        const struct rules_subject subject = {
            .module = &module, .function = function, .file = "", .language = language_of(function, "")};
        rules_find(&found, NULL, rules, &subject);
    }
    arena_fini(&arena);
    return found.class;
}
