/*
 * identifier.c - reads source names: length and bytes, references to words of earlier names, Punycode, operators.
 */
#include "demangle/swift/read.h"

#include <string.h>

#define NAME_MAX_BYTES 4096 /* limit of a name, with expanded words */

struct swift_identifier {
    char *bytes;
    size_t len;
};

static bool append(struct swift_identifier *name, const char *text, size_t len)
{
    if (len > NAME_MAX_BYTES - name->len)
        return false;
    memcpy(name->bytes + name->len, text, len);
    name->len += len;
    return true;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static void add_word(struct swift *s, const char *text, size_t len)
{
    if (len < 2 || s->word_count == sizeof s->words / sizeof s->words[0])
        return;
    s->words[s->word_count].text = text;
    s->words[s->word_count++].len = len;
}

/* A word begins at any character but digits and underscores, and ends before an underscore or an upper case letter. */
static void split(struct swift *s, const char *text, size_t len)
{
    const char *word = NULL;
    for (const char *p = text; p <= text + len; p++) {
        bool over = p == text + len;
        if (word && (over || *p == '_' || (is_upper(*p) && !is_upper(p[-1])))) {
            add_word(s, word, (size_t)(p - word));
            word = NULL;
        }
        if (!word && !over && *p != '_' && (*p < '0' || *p > '9'))
            word = p;
    }
}

/* Expand references to words; the last one is an upper case letter. Returns false if a word does not exist. */
static bool take_words(struct swift *s, struct swift_identifier *name, bool *more)
{
    while (*more && (is_lower(swift_peek(s)) || is_upper(swift_peek(s)))) {
        char c = swift_next(s);
        *more = is_lower(c);
        size_t word = (size_t)(c - (is_lower(c) ? 'a' : 'A'));
        if (word >= s->word_count || !append(name, s->words[word].text, s->words[word].len))
            return false;
    }
    return true;
}

static bool take_bytes(struct swift *s, struct swift_identifier *name, bool punycode)
{
    int len = swift_natural(s);
    if (punycode)
        swift_take(s, '_');
    if (len <= 0 || (size_t)len > s->len - s->at)
        return false;
    const char *text = s->text + s->at;
    size_t bytes = (size_t)len;
    s->at += bytes;
    if (!punycode)
        split(s, text, bytes);
    return (!punycode || swift_punycode(s, &text, &bytes, text, bytes)) && append(name, text, bytes);
}

struct swift_node *swift_identifier(struct swift *s)
{
    char buffer[NAME_MAX_BYTES];
    struct swift_identifier name = {.bytes = buffer};
    bool words = false;
    bool punycode = false;
    if (swift_peek(s) < '0' || swift_peek(s) > '9')
        return NULL;
    if (swift_take(s, '0')) {
        punycode = swift_take(s, '0');
        words = !punycode;
    }
    do {
        if (!take_words(s, &name, &words))
            return NULL;
        if (swift_take(s, '0'))
            break;
        if (!take_bytes(s, &name, punycode))
            return NULL;
    } while (words);
    struct swift_node *node = swift_node(s, SWIFT_IDENTIFIER);
    char *text = arena_copy(&s->arena, name.bytes, name.len);
    if (!node || !text)
        return NULL;
    node->text = text;
    node->len = name.len;
    return swift_remember(s, node);
}

struct swift_node *swift_operator_of(struct swift *s, const struct swift_node *name, char fixity)
{
    static const char letters[] = "& @/= >    <*!|+?%-~   ^ .";
    static const char *const words[] = {['i'] = " infix", ['p'] = " prefix", ['P'] = " postfix"};
    const char *behind = fixity > 0 && (size_t)fixity < sizeof words / sizeof *words ? words[(size_t)fixity] : NULL;
    char *text = behind ? arena_alloc(&s->arena, name->len + strlen(behind) + 1) : NULL;
    struct swift_node *node = swift_node(s, SWIFT_OPERATOR);
    if (!text || !node)
        return NULL;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->text[i];
        text[i] = is_lower(c) ? letters[c - 'a'] : c;
        if (text[i] == ' ' || (!is_lower(c) && !((unsigned char)c & 0x80)))
            return NULL;
    }
    memcpy(text + name->len, behind, strlen(behind));
    node->text = text;
    node->len = name->len + strlen(behind);
    return node;
}

struct swift_node *swift_operator_name(struct swift *s)
{
    const struct swift_node *name = swift_pop(s, SWIFT_IDENTIFIER);
    char fixity = swift_next(s);
    return name ? swift_operator_of(s, name, fixity) : NULL;
}
