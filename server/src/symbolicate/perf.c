/* perf.c - see perf.h. */
#include "symbolicate/perf.h"

#include "base/fault.h"
#include "base/path.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Take a number and the colon before it off the end of a text, and shorten *len by them. False: there is none. */
static bool take_number(uint32_t *out, const char *text, size_t *len)
{
    size_t at = *len;
    uint64_t number = 0;
    while (at && isdigit((unsigned char)text[at - 1]))
        at--;
    if (at == *len || !at || text[at - 1] != ':' || *len - at > 9)
        return false;
    for (size_t i = at; i < *len; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    *out = (uint32_t)number;
    *len = at - 1;
    return true;
}

/* ---- V8 ---- */

/* The text after the kind of code and the mark of its tier; NULL: it is no function of a script. */
static const char *behind_kind(const char *name)
{
    static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(name, kinds[i])) {
            name += strlen(kinds[i]);
            return name + strspn(name, "*~^'+-");
        }
    return NULL;
}

static bool is_v8s_own(const char *name)
{
    static const char *const kinds[] = {"Builtin:", "BytecodeHandler:", "Stub:", "RegExp:", "Handler:", "Interpreter:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(name, kinds[i]))
            return true;
    return false;
}

/* "price /srv/a b.js:2:15": the file begins behind a blank that a slash, a word with a colon, or nothing follows. */
static int parse_js(struct perf_place *out, struct arena *arena, const char *rest)
{
    size_t len = strlen(rest), file = 0;
    uint32_t column;
    if (take_number(&out->line, rest, &len))
        if (take_number(&column, rest, &len)) /* the number before was the column */
            out->line = column;
    for (size_t i = 0; i < len && !file; i++)
        if (rest[i] == ' ' && (rest[i + 1] == '/' || begins(rest + i + 1, "file:") || begins(rest + i + 1, "node:")))
            file = i + 1;
    for (size_t i = len; i-- > 0 && !file;)
        if (rest[i] == ' ')
            file = i + 1;
    size_t name = file ? file - 1 : len;
    const char *path = file ? rest + file : "";
    size_t path_len = file ? len - file : 0;
    if (begins(path, "file://")) {
        path += 7;
        path_len -= path_len < 7 ? path_len : 7;
    }
    out->function = name ? arena_copy(arena, rest, name) : "(anonymous)";
    out->file = arena_copy(arena, path, path_len);
    out->image = out->file ? path_base(out->file) : NULL;
    return out->function && out->file ? 0 : MIRE_FAULT_MEMORY;
}

/* ---- CPython with -X perf ---- */

static int parse_python(struct perf_place *out, struct arena *arena, const char *rest)
{
    const char *colon = strstr(rest, ":/");
    colon = colon ? colon : strstr(rest, ":<");
    if (!colon || colon == rest)
        return 0;
    out->function = arena_copy(arena, rest, (size_t)(colon - rest));
    out->file = colon + 1;
    out->image = path_base(out->file);
    return out->function ? 0 : MIRE_FAULT_MEMORY;
}

/* ---- Java and .NET: "RETURN NAME(ARGUMENTS)" with words before and brackets behind ---- */

/* The last word before the arguments. */
static int parse_signature(struct perf_place *out, struct arena *arena, const char *name)
{
    const char *open = strchr(name, '(');
    const char *word = open;
    while (word > name && word[-1] != ' ')
        word--;
    char *function = word < open ? arena_copy(arena, word, (size_t)(open - word))
                                 : arena_copy(arena, name, strcspn(name, " (")); /* StubRoutines (1) */
    if (!function)
        return MIRE_FAULT_MEMORY;
    if (word == open && function[0])
        out->function = function;
    char *colons = strstr(function, "::");
    if (colons) { /* X.Shop::Price -> X.Shop.Price */
        colons[0] = '.';
        memmove(colons + 1, colons + 2, strlen(colons + 2) + 1);
    }
    if (!strchr(function, '.'))
        return 0;
    out->function = function;
    return 0;
}

/* Lorg/x/Shop;::price -> org.x.Shop.price */
static int parse_descriptor(struct perf_place *out, struct arena *arena, const char *name)
{
    const char *end = strstr(name, ";::");
    char *function = arena_printf(arena, "%.*s.%s", (int)(end - name - 1), name + 1, end + 3);
    if (!function)
        return MIRE_FAULT_MEMORY;
    for (char *slash = function; slash < function + (end - name); slash++)
        *slash = *slash == '/' ? '.' : *slash;
    out->function = function;
    return 0;
}

int perf_parse(struct perf_place *out, struct arena *arena, const char *name)
{
    const char *script = behind_kind(name);
    *out = (struct perf_place){.function = name, .file = "", .image = ""};
    if (is_v8s_own(name)) {
        out->image = "v8";
        return 0;
    }
    if (script)
        return parse_js(out, arena, script);
    if (begins(name, "py::"))
        return parse_python(out, arena, name + 4);
    if (name[0] == 'L' && strstr(name, ";::"))
        return parse_descriptor(out, arena, name);
    if (name[0] == '$' && strchr(name, ':') && strchr(name, '/')) {
        out->function = name + 1;
        return 0;
    }
    return strchr(name, '(') && strchr(name, ' ') ? parse_signature(out, arena, name) : 0;
}
