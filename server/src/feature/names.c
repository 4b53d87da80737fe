/*
 * names.c - one walk over a name; tables by the first two characters say which rules are worth a look.
 */
#include "feature/names.h"
#include "feature/names_match.h"

#include "base/fault.h"
#include "base/path.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#define CHARACTERS 256
#define RULES_MAX  256
#define ROWS       64   /* characters that patterns begin with, and one for all others */
#define ROOM       8192 /* rules of all pairs of characters together */

/*
 * Rules by the two characters that a name goes on with, each list in the order of the table: first[row][c] ..
 * first[row][c + 1]. Row 0 is that of the characters that no pattern begins with.
 */
struct index {
    uint8_t rows[CHARACTERS]; /* by the first character */
    uint16_t first[ROWS][CHARACTERS + 1];
    uint8_t numbers[ROOM];
};
static struct index anywhere, anchored; /* the latter: of %^ and %< */
static struct {
    uint32_t letters, mask; /* that its pattern begins with, four at most */
} begins[RULES_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_anchored(const struct name_rule *rule)
{
    return rule->pattern[0] == '%';
}

static const char *behind_anchor(const struct name_rule *rule)
{
    return rule->pattern + (is_anchored(rule) ? 2 : 0);
}

/* May a text go on with that character where the pattern does? */
static bool may_go_on(const char *pattern, unsigned char c)
{
    if (pattern[0] != '%')
        return !pattern[0] || (unsigned char)pattern[0] == c;
    switch (pattern[1]) {
    case 'd':
        return isdigit(c);
    case 'x':
    case 'h':
        return isxdigit(c);
    case 'n':
        return name_is_word((char)c);
    default:
        return true;
    }
}

/* The lists of a first character. Returns how many numbers there are by then. */
static size_t index_row(struct index *index, unsigned row, unsigned char begin, bool of_anchored, size_t at)
{
    for (unsigned c = 0; c < CHARACTERS; c++) {
        index->first[row][c] = (uint16_t)at;
        for (size_t i = 0; i < name_rule_count && i < RULES_MAX && at < ROOM; i++) {
            const char *pattern = behind_anchor(&name_rules[i]);
            if (is_anchored(&name_rules[i]) == of_anchored && (unsigned char)pattern[0] == begin &&
                may_go_on(pattern + 1, (unsigned char)c))
                index->numbers[at++] = (uint8_t)i;
        }
    }
    index->first[row][CHARACTERS] = (uint16_t)at;
    return at;
}

static void index_rules_of(struct index *index, bool of_anchored)
{
    unsigned rows = 1;
    size_t at = 0;
    for (size_t i = 0; i < name_rule_count && i < RULES_MAX; i++) {
        unsigned char begin = (unsigned char)behind_anchor(&name_rules[i])[0];
        if (is_anchored(&name_rules[i]) != of_anchored || index->rows[begin] || rows == ROWS)
            continue;
        at = index_row(index, rows, begin, of_anchored, at);
        index->rows[begin] = (uint8_t)rows++;
    }
}

static void index_rules(void)
{
    for (size_t i = 0; i < name_rule_count && i < RULES_MAX; i++) {
        const unsigned char *pattern = (const unsigned char *)behind_anchor(&name_rules[i]);
        for (unsigned k = 0; k < 4 && pattern[k] && pattern[k] != '%'; k++) {
            begins[i].letters |= (uint32_t)pattern[k] << 8 * k;
            begins[i].mask |= 0xffu << 8 * k;
        }
    }
    index_rules_of(&anywhere, false);
    index_rules_of(&anchored, true);
}

/* A name while it is rewritten: the text before `pending` is done. */
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
        depth += (*name == '(') - (*name == ')');
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
    const uint16_t *list = &index->first[index->rows[(unsigned char)at[0]]][(unsigned char)at[1]];
    if (list[0] == list[1])
        return 0;
    const uint32_t letters = four_letters(at);
    for (unsigned i = list[0]; i < list[1]; i++) {
        const uint8_t number = index->numbers[i];
        const struct name_rule *rule = &name_rules[number];
        struct name_capture capture = {"", 0};
        if ((letters & begins[number].mask) != begins[number].letters ||
            (is_anchored(rule) && rule->pattern[1] == '^' && at != w->name))
            continue;
        size_t used = name_match(behind_anchor(rule), at, &capture);
        if (used == SIZE_MAX || !applies(rule, w, at))
            continue;
        put(w, w->pending, (size_t)(at - w->pending), true, true);
        use(w, number, at, used, &capture);
        w->pending = at + used;
        return used;
    }
    return 0;
}

const char *name_behind_type(const char *function)
{
    static const char nameless[] = "(anonymous namespace)", computed[] = "decltype (";
    const char *name = function;
    int depth = 0;
    if (!strchr(function, ' ') || function[0] == '-' || function[0] == '+')
        return function;
    for (const char *at = function; *at; at++) {
        if (!strncmp(at, "operator", 8) && (at == name || at[-1] == ':'))
            break;
        if (!strncmp(at, nameless, sizeof nameless - 1)) {
            at += sizeof nameless - 2;
        } else if (!depth && (at == function || at[-1] == ' ') && !strncmp(at, computed, sizeof computed - 1)) {
            at += sizeof computed - 2; /* at its bracket: a type that is computed */
            depth++;
        } else if (*at == '(' && !depth) {
            break;
        } else if (*at == '<' || *at == '(' || *at == '[') {
            depth++;
        } else if (*at == '>' || *at == ')' || *at == ']') {
            depth--;
        } else if (*at == ' ' && !depth) {
            name = at + 1;
        }
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

/* Rewrite the name. False: it is unchanged. */
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
    for (const char *at = function; *at;) {
        size_t used = at == function || at[-1] == ' ' ? try_index(w, at, &anchored) : 0;
        if (!used && anywhere.rows[(unsigned char)*at])
            used = try_index(w, at, &anywhere);
        at += used ? used : 1;
    }
    if (!out->rule_count)
        return false;
    put(w, w->pending, strlen(w->pending), true, true);
    if (w->types_vary)
        drop_types(w);
    return true;
}

/* An inlined lambda has no linker's name, and its own tells no place: the file tells it apart from others. */
static int name_lambda(struct name *out, struct arena *arena, const char *file)
{
    out->key = out->shown = arena_printf(arena, "operator() in %s", path_base(file));
    return out->key ? 0 : MIRE_FAULT_MEMORY;
}

int name_find(struct name *out, struct arena *arena, const char *function, const char *file)
{
    struct writing w;
    if (!rewrite(&w, out, function, file))
        return file[0] && !strcmp(function, "operator()") ? name_lambda(out, arena, file) : 0;
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
