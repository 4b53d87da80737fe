/*
 * names.c - one walk over a name; a table by first character says which rules are worth a look.
 */
#include "feature/names.h"
#include "feature/names_match.h"

#include "base/fault.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#define CHARACTERS 256
#define RULES_MAX  256
#define THREES     8192 /* bits; 2^13, as hash_three has it */

/* Rules in the order of the table, by the character that their pattern begins with: first[c] .. first[c + 1]. */
struct index {
    uint16_t first[CHARACTERS + 1];
    uint8_t numbers[RULES_MAX];
    uint32_t prefixes[RULES_MAX], masks[RULES_MAX]; /* the letters that a pattern begins with, four at most */
    uint8_t pairs[CHARACTERS][CHARACTERS / 8];      /* bits: a pattern may begin with these two characters */
    uint8_t open[CHARACTERS][CHARACTERS / 8];       /* the same, and any third */
    uint8_t threes[THREES / 8];                     /* bits by hash: a pattern may begin with these three */
};
static struct index anywhere, anchored; /* the latter: of %^ and %< */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_bit(uint8_t *bits, unsigned at)
{
    bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static bool has_bit(const uint8_t *bits, unsigned at)
{
    return bits[at / 8] >> at % 8 & 1;
}

static unsigned hash_three(const unsigned char *at)
{
    return ((at[0] * 31u + at[1]) * 31u + at[2]) * 0x9e3779b1u >> 19;
}

/* Note what a pattern begins with. */
static void index_begin(struct index *index, const unsigned char *pattern)
{
    const unsigned char c = pattern[0], next = pattern[1];
    if (!next || next == '%') {
        memset(index->pairs[c], 0xff, sizeof index->pairs[c]);
        memset(index->open[c], 0xff, sizeof index->open[c]);
        return;
    }
    set_bit(index->pairs[c], next);
    if (!pattern[2] || pattern[2] == '%')
        set_bit(index->open[c], next);
    else
        set_bit(index->threes, hash_three(pattern));
}

static bool is_anchored(const struct name_rule *rule)
{
    return rule->pattern[0] == '%';
}

static void index_rules_of(struct index *index, bool of_anchored)
{
    size_t at = 0;
    for (unsigned c = 0; c < CHARACTERS; c++) {
        index->first[c] = (uint16_t)at;
        for (size_t i = 0; i < name_rule_count && i < RULES_MAX; i++) {
            const unsigned char *pattern = (const unsigned char *)name_rules[i].pattern + (of_anchored ? 2 : 0);
            if (is_anchored(&name_rules[i]) != of_anchored || pattern[0] != c)
                continue;
            index->numbers[at] = (uint8_t)i;
            for (unsigned k = 0; k < 4 && pattern[k] && pattern[k] != '%'; k++) {
                index->prefixes[at] |= (uint32_t)pattern[k] << 8 * k;
                index->masks[at] |= 0xffu << 8 * k;
            }
            at++;
            index_begin(index, pattern);
        }
    }
    index->first[CHARACTERS] = (uint16_t)at;
}

static void index_rules(void)
{
    index_rules_of(&anywhere, false);
    index_rules_of(&anchored, true);
}

/* A name while it is written anew: the text before `pending` is. */
struct writing {
    const char *name, *file, *pending;
    size_t key_len, shown_len;
    bool types_vary; /* its template arguments were left out */
    struct name *out;
    char key[MIRE_NAMES_MAX], shown[MIRE_NAMES_MAX];
};

/* Does a dot stand between two identifiers? */
static bool is_dotted(const char *text, size_t len)
{
    for (size_t i = 1; i + 1 < len; i++)
        if (text[i] == '.' && name_is_word(text[i - 1]) && name_is_word(text[i + 1]) &&
            !isdigit((unsigned char)text[i + 1]))
            return true;
    return false;
}

static bool is_in_parentheses(const char *name, const char *at)
{
    int depth = 0;
    for (; name < at; name++)
        depth += *name == '(' ? 1 : *name == ')' ? -1 : 0;
    return depth > 0;
}

static bool is_behind(const char *text, const char *name, const char *at)
{
    size_t len = strlen(text);
    return (size_t)(at - name) >= len && !memcmp(at - len, text, len);
}

static bool is_go(const struct writing *w)
{
    const char *dot = strrchr(w->file, '.');
    return (dot && !strcmp(dot, ".go")) || strchr(w->name, '/') || strstr(w->name, "(*") ||
           !strncmp(w->name, "main.", 5);
}

static bool is_behind_name(const char *name, const char *at)
{
    return at > name && (name_is_word(at[-1]) || strchr(">]})", at[-1]));
}

/* May template arguments begin here? Not those of operator<, of <init>, or of a Rust implementation. */
static bool are_arguments(const char *name, const char *at)
{
    if (!is_behind_name(name, at) || is_in_parentheses(name, at))
        return false;
    if (*at == ':')
        return strncmp(at, "::<impl ", 8) != 0 && strncmp(at, "::<lambda_", 10) != 0;
    return !is_behind("operator", name, at) && !is_behind("operator<", name, at);
}

static bool is_of_language(unsigned flags, const struct writing *w)
{
    return (!(flags & NAME_GO) || is_go(w)) && (!(flags & NAME_LIBC) || !strncmp(w->name, "__", 2)) &&
           (!(flags & NAME_CAML) || (!strncmp(w->name, "caml", 4) && isupper((unsigned char)w->name[4]))) &&
           (!(flags & NAME_PYX) || !strncmp(w->name, "__pyx_p", 7));
}

static bool applies(const struct name_rule *rule, const struct writing *w, const char *at)
{
    if (rule->flags & NAME_NATIVE &&
        (is_dotted(w->key, w->key_len) || is_dotted(w->pending, (size_t)(at - w->pending))))
        return false;
    return is_of_language(rule->flags, w) && (!(rule->flags & NAME_ARGS) || are_arguments(w->name, at)) &&
           (!(rule->flags & NAME_BEHIND) || is_behind_name(w->name, at));
}

static void put(struct writing *w, const char *text, size_t len, bool key, bool shown)
{
    if (key && len < MIRE_NAMES_MAX - w->key_len) {
        memcpy(w->key + w->key_len, text, len);
        w->key_len += len;
    }
    if (shown && len < MIRE_NAMES_MAX - w->shown_len) {
        memcpy(w->shown + w->shown_len, text, len);
        w->shown_len += len;
    }
}

static void use(struct writing *w, uint8_t number, const char *at, size_t used, const struct name_capture *capture)
{
    const struct name_rule *rule = &name_rules[number];
    const bool hidden = rule->flags & NAME_HIDDEN;
    for (const char *with = rule->with; *with; with++) {
        bool captured = with[0] == '%' && with[1] == 'n';
        put(w, captured ? capture->text : with, captured ? capture->len : 1, true, hidden);
        with += captured;
    }
    if (!hidden)
        put(w, at, used, false, true);
    w->types_vary |= rule->flags & NAME_ARGS && rule->pattern[0] == '<';
    w->out->made |= (rule->flags & NAME_MADE) != 0;
    for (size_t i = 0; i < w->out->rule_count; i++)
        if (w->out->rules[i] == number)
            return;
    if (w->out->rule_count < MIRE_NAMES_RULES)
        w->out->rules[w->out->rule_count++] = number;
}

static uint32_t four_letters(const char *at)
{
    uint32_t letters = 0;
    for (unsigned k = 0; k < 4 && at[k]; k++)
        letters |= (uint32_t)(unsigned char)at[k] << 8 * k;
    return letters;
}

/* Length of the text here that the first rule of an index that fits replaced; 0: none did. */
static size_t try_index(struct writing *w, const char *at, const struct index *index)
{
    const unsigned char c = (unsigned char)at[0];
    const uint32_t letters = four_letters(at);
    for (size_t i = index->first[c]; i < index->first[c + 1u]; i++) {
        if ((letters & index->masks[i]) != index->prefixes[i])
            continue;
        const struct name_rule *rule = &name_rules[index->numbers[i]];
        const char *pattern = rule->pattern + (index == &anchored ? 2 : 0);
        struct name_capture capture = {"", 0};
        if (index == &anchored && rule->pattern[1] == '^' && at != w->name)
            continue;
        size_t used = name_match(pattern, at, &capture);
        if (used == SIZE_MAX || !applies(rule, w, at))
            continue;
        put(w, w->pending, (size_t)(at - w->pending), true, true);
        use(w, index->numbers[i], at, used, &capture);
        w->pending = at + used;
        return used;
    }
    return 0;
}

/* May a pattern of the index begin here? */
static bool is_begin(const struct index *index, const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
    return has_bit(index->pairs[text[0]], text[1]) &&
           (has_bit(index->open[text[0]], text[1]) || (text[1] && has_bit(index->threes, hash_three(text))));
}

/* Length of the text here that a rule replaced, and 1 where none did. */
static size_t step(struct writing *w, const char *at)
{
    size_t used = 0;
    if ((at == w->name || at[-1] == ' ') && is_begin(&anchored, at))
        used = try_index(w, at, &anchored);
    if (!used && is_begin(&anywhere, at))
        used = try_index(w, at, &anywhere);
    return used ? used : 1;
}

/* May a rule without an anchor begin with that character? */
static bool is_worth_a_look(char c)
{
    const unsigned char at = (unsigned char)c;
    return anywhere.first[at] < anywhere.first[at + 1u];
}

const char *name_behind_type(const char *function)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *name = function;
    int depth = 0;
    if (!strchr(function, ' ') || function[0] == '-' || function[0] == '+')
        return function;
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

/* Behind a list of parameters that begins here; labels of Swift, (_:count:), are a part of the name. */
static const char *behind_parameters(const char *at)
{
    static const char nameless[] = "(anonymous namespace)";
    size_t len = name_span_brackets(at + 1, ')');
    if (len == SIZE_MAX || !strncmp(at, nameless, sizeof nameless - 1) || (len && at[len] == ':'))
        return at;
    at += len + 2;
    while (!strncmp(at, " const", 6) || !strncmp(at, " volatile", 9))
        at += strcspn(at + 1, " :&") + 1;
    return at;
}

/* The types that a template's function takes and returns vary as its arguments do. */
static void drop_types(struct writing *w)
{
    static const char calls[] = "operator";
    char *key = w->key;
    size_t to = 0;
    key[w->key_len] = '\0';
    for (const char *at = strstr(key, " in ") ? key : name_behind_type(key); *at;) {
        bool is_name = !strncmp(at, "()", 2) && to >= sizeof calls - 1 &&
                       !memcmp(key + to - (sizeof calls - 1), calls, sizeof calls - 1);
        const char *behind = *at == '(' && !is_name ? behind_parameters(at) : at;
        if (behind == at) {
            key[to++] = *at++;
            if (is_name)
                key[to++] = *at++;
        }
        at = behind > at ? behind : at;
    }
    w->key_len = to;
}

/* Write the name anew. False: it stays as it is. */
static bool rewrite(struct writing *w, struct name *out, const char *function, const char *file)
{
    *out = (struct name){.key = function, .shown = function};
    if (pthread_once(&once, index_rules) || strnlen(function, MIRE_NAMES_MAX / 2) == MIRE_NAMES_MAX / 2)
        return false;
    w->name = w->pending = function;
    w->file = file;
    w->out = out;
    w->key_len = w->shown_len = 0;
    w->types_vary = false;
    for (const char *at = function; *at;)
        at += at == function || at[-1] == ' ' || is_worth_a_look(*at) ? step(w, at) : 1;
    if (!out->rule_count)
        return false;
    put(w, w->pending, strlen(w->pending), true, true);
    if (w->types_vary)
        drop_types(w);
    return true;
}

int name_find(struct name *out, struct arena *arena, const char *function, const char *file)
{
    struct writing w;
    if (!rewrite(&w, out, function, file))
        return 0;
    if (w.key_len)
        out->key = arena_copy(arena, w.key, w.key_len);
    if (w.shown_len)
        out->shown = arena_copy(arena, w.shown, w.shown_len);
    return out->key && out->shown ? 0 : MIRE_FAULT_MEMORY;
}

size_t name_write(char *out, size_t room, bool *made_out, const char *function, const char *file)
{
    struct writing w;
    struct name name;
    const char *key = function;
    size_t len = strlen(function);
    if (rewrite(&w, &name, function, file) && w.key_len) {
        key = w.key;
        len = w.key_len;
    }
    len = len < room ? len : room - 1;
    memcpy(out, key, len);
    out[len] = '\0';
    *made_out = name.made;
    return len;
}
