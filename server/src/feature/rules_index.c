/* rules_index.c - see rules_index.h. */
#include "feature/rules_index.h"

#include "base/fault.h"
#include "base/hash.h"
#include "base/path.h"
#include "feature/names.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of keys, shortest first; the last one stands for the whole name. */
static const unsigned char lengths[] = {0, 1, 2, 3, 4, 6, 8, 11, 14, 18, 22, 26};
#define LENGTHS (sizeof lengths)
#define WHOLE   LENGTHS

/* The key's number among the lengths, and the key. */
static uint64_t key_of_rule(size_t *length_out, const struct rule *rule)
{
    const struct pattern *function = &rule->function;
    size_t at = LENGTHS - 1;
    if (function->kind == MIRE_PATTERN_EXACT) {
        *length_out = WHOLE;
        return fnv_bytes(MIRE_HASH_START, function->text, function->literal) + WHOLE;
    }
    while (lengths[at] > function->literal)
        at--;
    *length_out = at;
    return fnv_bytes(MIRE_HASH_START, function->text, lengths[at]) + at;
}

static struct rules_bucket *bucket_of(const struct rules_index *index, uint64_t key)
{
    size_t at = (key ^ key >> 29) & (index->room - 1);
    while (index->buckets[at].count && index->buckets[at].key != key)
        at = (at + 1) & (index->room - 1);
    return &index->buckets[at];
}

static bool has_bit(const uint64_t *bits, size_t at)
{
    return bits[at / 64] >> at % 64 & 1;
}

static void set_bit(uint64_t *bits, size_t at)
{
    bits[at / 64] |= 1ull << at % 64;
}

static size_t filter_bit(const struct rules *rules, uint64_t key)
{
    return (key ^ key >> 29) & rules->filter_mask;
}

/* Is a rule in that index? Those of whole modules are in none. */
static bool is_in(const struct rule *rule, bool marks)
{
    return !rule_class_is_of_module(rule->class) && (rule->class >= MIRE_CLASS_IDLE) == marks;
}

static int make(struct rules_index *index, struct rules *rules, bool marks)
{
    uint32_t at = 0;
    index->room = 16;
    while (index->room < rules->count * 2)
        index->room *= 2;
    index->buckets = calloc(index->room, sizeof *index->buckets);
    index->numbers = calloc(rules->count + 1, sizeof *index->numbers);
    if (!index->buckets || !index->numbers)
        return -1;
    for (size_t i = 0; i < rules->count; i++) {
        if (!is_in(&rules->rows[i], marks))
            continue;
        size_t length;
        uint64_t key = key_of_rule(&length, &rules->rows[i]);
        struct rules_bucket *bucket = bucket_of(index, key);
        rules->lengths |= 1u << length;
        set_bit(rules->filter, filter_bit(rules, key));
        bucket->key = key;
        bucket->count++;
    }
    for (size_t b = 0; b < index->room; b++) {
        index->buckets[b].first = at;
        at += index->buckets[b].count;
    }
    uint32_t *filled = calloc(index->room, sizeof *filled);
    for (size_t i = 0; filled && i < rules->count; i++) {
        if (!is_in(&rules->rows[i], marks))
            continue;
        size_t length;
        const struct rules_bucket *bucket = bucket_of(index, key_of_rule(&length, &rules->rows[i]));
        index->numbers[bucket->first + filled[bucket - index->buckets]++] = (uint32_t)i;
    }
    free(filled);
    return filled ? 0 : -1;
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

int rules_index_make(struct rules *rules)
{
    size_t words = 1;
    while (words * 64 < rules->count * 16)
        words *= 2;
    rules->filter = calloc(words, sizeof *rules->filter);
    rules->filter_mask = words * 64 - 1;
    if (!rules->filter || list_own(rules))
        return -1;
    return make(&rules->classes, rules, false) || make(&rules->marks, rules, true) ? -1 : 0;
}

void rules_index_fini(struct rules_index *index)
{
    free(index->buckets);
    free(index->numbers);
}

static bool fits_path(const struct pattern *pattern, const char *path)
{
    return pattern_match(pattern, pattern->path ? path : path_base(path));
}

/* Of the rules under the empty key, which every name is asked under, those that fit the module. */
static int list_any(struct rules_list *out, struct arena *arena, const struct rules *rules,
                    const struct rules_index *index, const uint64_t *fits)
{
    const struct rules_bucket *bucket = bucket_of(index, MIRE_HASH_START);
    const uint32_t *numbers = &index->numbers[bucket->first];
    uint32_t *left = arena_array(arena, bucket->count, sizeof *left), count = 0;
    struct pairs *pairs = arena_array(arena, bucket->count, sizeof *pairs);
    if (!left || !pairs)
        return MIRE_FAULT_MEMORY;
    for (uint32_t i = 0; i < bucket->count; i++) {
        const struct rule *rule = &rules->rows[numbers[i]];
        if (!has_bit(fits, rule->module))
            continue;
        left[count] = numbers[i];
        pairs[count++] = rule->function.pairs;
    }
    *out = (struct rules_list){left, pairs, count};
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

/* The first rule that says it decides. */
static void say_of_module(struct rules_module *out, const struct rules *rules, uint32_t number)
{
    if (rules->rows[number].class == MIRE_CLASS_OWN)
        out->own = true;
    else if (out->interpreter.class == MIRE_CLASS_NONE)
        out->interpreter = found_at(rules, number);
}

int rules_module(struct rules_module *out, struct arena *arena, const struct rules *rules, const char *path)
{
    out->own = false;
    out->interpreter = found_at(rules, UINT32_MAX);
    out->fits = arena_array(arena, rules->module_count / 64 + 1, sizeof *out->fits);
    if (!out->fits)
        return MIRE_FAULT_MEMORY;
    const char *name = path_base(path);
    for (size_t i = 0; i < rules->module_count; i++) {
        const struct pattern *pattern = &rules->modules[i];
        const char *subject = pattern->path ? path : name;
        if ((!pattern->literal || pattern->text[0] == subject[0]) && pattern_match(pattern, subject))
            set_bit(out->fits, i);
    }
    for (size_t i = 0; i < rules->own_count; i++)
        if (has_bit(out->fits, rules->rows[rules->own[i]].module))
            say_of_module(out, rules, rules->own[i]);
    int rc = list_any(&out->any[0], arena, rules, &rules->classes, out->fits);
    return rc ? rc : list_any(&out->any[1], arena, rules, &rules->marks, out->fits);
}

static bool fits(const struct rule *rule, const struct rules_subject *subject, const char *name)
{
    return has_bit(subject->module->fits, rule->module) &&
           (rule->language == MIRE_LANGUAGE_UNKNOWN || rule->language == subject->language ||
            (rule->language == MIRE_LANGUAGE_JAVA && subject->language == MIRE_LANGUAGE_KOTLIN)) &&
           (!rule->entry || subject->entry) && (!rule->leaf || subject->leaf) && pattern_match(&rule->function, name) &&
           (!rule->file.text || fits_path(&rule->file, subject->file));
}

/* The first of a rising list that fits, if it comes before `best`. */
static uint32_t look(uint32_t best, const struct rules *rules, const struct rules_list *list,
                     const struct rules_subject *subject, const char *name)
{
    for (uint32_t i = 0; i < list->count && list->numbers[i] < best; i++)
        if (fits(&rules->rows[list->numbers[i]], subject, name))
            return list->numbers[i];
    return best;
}

/* The same of rules that every name is asked: most are told from it by its pairs of bytes. */
static uint32_t look_at_any(uint32_t best, const struct rules *rules, const struct rules_list *list,
                            const struct rules_subject *subject, const char *name, const struct pairs *pairs)
{
    for (uint32_t i = 0; i < list->count && list->numbers[i] < best; i++)
        if (pairs_hold(pairs, &list->pairs[i]) && fits(&rules->rows[list->numbers[i]], subject, name))
            return list->numbers[i];
    return best;
}

static struct rules_list list_of(const struct rules_index *index, uint64_t key)
{
    const struct rules_bucket *bucket = bucket_of(index, key);
    return (struct rules_list){&index->numbers[bucket->first], NULL, bucket->count};
}

void rules_find(struct rule_found *out, struct rule_found *mark_out, const struct rules *rules,
                const struct rules_subject *subject)
{
    const struct rules_index *indexes[] = {&rules->classes, &rules->marks};
    struct rule_found *outs[] = {out, mark_out};
    const char *name = name_behind_type(subject->function);
    size_t len = strlen(name), at = 0;
    uint64_t hash = MIRE_HASH_START;
    const struct pairs pairs = pairs_of(name);
    uint32_t best[] = {UINT32_MAX, UINT32_MAX};
    for (int i = 0; i < 2; i++)
        if (outs[i])
            best[i] = look_at_any(best[i], rules, &subject->module->any[i], subject, name, &pairs);
    for (size_t l = 1; l <= WHOLE; l++) {
        size_t to = l == WHOLE ? len : lengths[l];
        if (to > len)
            continue;
        hash = fnv_bytes(hash, name + at, to - at);
        at = to;
        if (!(rules->lengths >> l & 1) || !has_bit(rules->filter, filter_bit(rules, hash + l)))
            continue;
        for (int i = 0; i < 2; i++) {
            const struct rules_list list = list_of(indexes[i], hash + l);
            if (outs[i])
                best[i] = look(best[i], rules, &list, subject, name);
        }
    }
    for (int i = 0; i < 2; i++)
        if (outs[i])
            *outs[i] = found_at(rules, best[i]);
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
