/*
 * rust_v0.c - reads rustc's symbol mangling of version 0 (RFC 2603), a grammar with references back into the name. The
 * name is read once and written at the same time.
 *
 *     _RINvMs_Cs12_4shopNtB5_3Job3runlE       <shop::Job>::run::<i32>
 *
 * A name that exceeds a limit of the walk is cut; one that breaks the grammar is rejected. Hashes of crates differ
 * between builds and are not written.
 */
#include "demangle/rust.h"
#include "demangle/rust_walk.h"

#include <string.h>

static void type(struct walk *w);
static void constant(struct walk *w);
static void path(struct walk *w);

/* The path of an implementation; the implemented trait or type is written instead. */
static void skip_impl_path(struct walk *w)
{
    bool silent = w->silent;
    w->silent = true;
    (void)walk_announced(w, 's');
    path(w);
    w->silent = silent;
}

static void nested(struct walk *w)
{
    char space = walk_next(w);
    w->bad |= !((space >= 'a' && space <= 'z') || (space >= 'A' && space <= 'Z'));
    path(w);
    struct identifier id = walk_identifier(w);
    if (space >= 'a') {
        if (id.len)
            walk_put(w, "::");
        walk_put_identifier(w, &id);
        return;
    }
    walk_put(w, "::{");
    if (space == 'C')
        walk_put(w, "closure");
    else if (space == 'S')
        walk_put(w, "shim");
    else
        walk_bytes(w, &space, 1);
    if (id.len)
        walk_put(w, ":");
    walk_put_identifier(w, &id);
    walk_put(w, "#");
    walk_number(w, id.disambiguator);
    walk_put(w, "}");
}

/* Lifetimes count from the innermost binder; 'a is the first of the outermost. */
static void lifetime(struct walk *w, uint64_t index)
{
    uint64_t depth = w->lifetimes - index;
    if (index > w->lifetimes) {
        w->bad |= !w->silent;
        return;
    }
    walk_put(w, "'");
    if (!index)
        walk_put(w, "_");
    else if (depth < 26)
        walk_bytes(w, &"abcdefghijklmnopqrstuvwxyz"[depth], 1);
    else {
        walk_put(w, "_");
        walk_number(w, depth);
    }
}

static void argument(struct walk *w)
{
    if (walk_take(w, 'L'))
        lifetime(w, walk_base_62(w));
    else if (walk_take(w, 'K'))
        constant(w);
    else
        type(w);
}

/* Items up to E, separated by commas. Returns their number. */
static size_t list(struct walk *w, void (*item)(struct walk *w))
{
    size_t count = 0;
    for (; !walk_stopped(w) && !walk_take(w, 'E'); count++) {
        if (count)
            walk_put(w, ", ");
        item(w);
    }
    return count;
}

/* A path inside a type names no value. */
static void of_type(struct walk *w, void (*walk)(struct walk *w))
{
    bool value = w->value;
    w->value = false;
    walk(w);
    w->value = value;
}

/* With `open`, generic arguments are left open for a trait object's bindings. Returns true if they were. */
static bool path_open(struct walk *w, bool open)
{
    bool left = false;
    if (!walk_enter(w))
        return false;
    char tag = walk_next(w);
    switch (tag) {
    case 'C': {
        struct identifier id = walk_identifier(w);
        walk_put_identifier(w, &id);
        break;
    }
    case 'N':
        nested(w);
        break;
    case 'M':
    case 'X':
        skip_impl_path(w);
        /* fallthrough */
    case 'Y':
        walk_put(w, "<");
        type(w);
        if (tag != 'M') {
            walk_put(w, " as ");
            of_type(w, path);
        }
        walk_put(w, ">");
        break;
    case 'I':
        path(w);
        walk_put(w, w->value ? "::<" : "<");
        (void)list(w, argument);
        left = open;
        if (!open)
            walk_put(w, ">");
        break;
    case 'B':
        walk_back(w, path);
        break;
    default:
        w->bad = true;
    }
    w->depth--;
    return left;
}

static void path(struct walk *w)
{
    (void)path_open(w, false);
}

static void binder(struct walk *w)
{
    uint64_t count = walk_announced(w, 'G');
    if (!count || walk_stopped(w))
        return;
    w->bad |= count > 64;
    walk_put(w, "for<");
    for (uint64_t i = 0; i < count && !walk_stopped(w); i++) {
        if (i)
            walk_put(w, ", ");
        w->lifetimes++;
        lifetime(w, 1);
    }
    walk_put(w, "> ");
}

static void function_type(struct walk *w)
{
    unsigned lifetimes = w->lifetimes;
    binder(w);
    if (walk_take(w, 'U'))
        walk_put(w, "unsafe ");
    if (walk_take(w, 'K')) {
        struct identifier abi = {.text = "C", .len = 1};
        if (!walk_take(w, 'C'))
            abi = walk_identifier(w);
        walk_put(w, "extern \"");
        for (size_t i = 0; i < abi.len; i++)
            walk_bytes(w, abi.text[i] == '_' ? "-" : abi.text + i, 1);
        walk_put(w, "\" ");
    }
    walk_put(w, "fn(");
    (void)list(w, type);
    walk_put(w, ")");
    if (!walk_take(w, 'u')) {
        walk_put(w, " -> ");
        type(w);
    }
    w->lifetimes = lifetimes;
}

/* Traits with their bound types: "Iterator<Item = u8> + Send". */
static void trait_object(struct walk *w)
{
    unsigned lifetimes = w->lifetimes;
    walk_put(w, "dyn ");
    binder(w);
    for (size_t count = 0; !walk_stopped(w) && !walk_take(w, 'E'); count++) {
        if (count)
            walk_put(w, " + ");
        /* An 'I' inside a reference is closed, and its bindings follow in brackets of their own. */
        bool open = w->at < w->end && *w->at == 'I' && path_open(w, true);
        if (!open)
            path(w);
        while (!walk_stopped(w) && walk_take(w, 'p')) {
            walk_put(w, open ? ", " : "<");
            open = true;
            struct identifier id = walk_identifier(w);
            walk_put_identifier(w, &id);
            walk_put(w, " = ");
            type(w);
        }
        if (open)
            walk_put(w, ">");
    }
    w->lifetimes = lifetimes;
    if (!walk_take(w, 'L')) {
        w->bad = true;
        return;
    }
    uint64_t index = walk_base_62(w);
    if (index) {
        walk_put(w, " + ");
        lifetime(w, index);
    }
}

static const char *basic_type(char tag)
{
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",  ['b' - 'a'] = "bool", ['c' - 'a'] = "char",  ['d' - 'a'] = "f64",   ['e' - 'a'] = "str",
        ['f' - 'a'] = "f32", ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
        ['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
        ['t' - 'a'] = "u16", ['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",   ['y' - 'a'] = "u64",
        ['z' - 'a'] = "!",
    };
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void reference(struct walk *w, const char *mutable)
{
    walk_put(w, "&");
    if (walk_take(w, 'L')) {
        uint64_t index = walk_base_62(w);
        if (index) {
            lifetime(w, index);
            walk_put(w, " ");
        }
    }
    walk_put(w, mutable);
    type(w);
}

static void compound_type(struct walk *w, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        walk_put(w, "[");
        type(w);
        if (tag == 'A') {
            walk_put(w, "; ");
            constant(w);
        }
        walk_put(w, "]");
        return;
    case 'T':
        walk_put(w, "(");
        if (list(w, type) == 1)
            walk_put(w, ",");
        walk_put(w, ")");
        return;
    case 'R':
        reference(w, "");
        return;
    case 'Q':
        reference(w, "mut ");
        return;
    case 'P':
        walk_put(w, "*const ");
        type(w);
        return;
    case 'O':
        walk_put(w, "*mut ");
        type(w);
        return;
    case 'F':
        function_type(w);
        return;
    case 'D':
        trait_object(w);
        return;
    case 'B':
        walk_back(w, type);
        return;
    default:
        w->at--; /* a named type is a path */
        path(w);
    }
}

static void type(struct walk *w)
{
    if (!walk_enter(w))
        return;
    char tag = walk_next(w);
    const char *name = basic_type(tag);
    bool value = w->value;
    w->value = false;
    if (name)
        walk_put(w, name);
    else if (!walk_stopped(w))
        compound_type(w, tag);
    w->value = value;
    w->depth--;
}

/* Hex digits up to _, written as a number if it has at most 64 bits. */
static void constant_number(struct walk *w, char tag)
{
    const char *digits = w->at;
    uint64_t value = 0;
    while (w->at < w->end && ((*w->at >= '0' && *w->at <= '9') || (*w->at >= 'a' && *w->at <= 'f')))
        value = value << 4 | (uint64_t)(*w->at <= '9' ? *w->at - '0' : *w->at - 'a' + 10), w->at++;
    size_t len = (size_t)(w->at - digits);
    if (!walk_take(w, '_'))
        w->bad = true;
    if (tag == 'b') {
        walk_put(w, value ? "true" : "false");
    } else if (tag == 'c' && value >= 0x20 && value < 0x7f) {
        walk_bytes(w, (const char[]){'\'', (char)value, '\''}, 3);
    } else if (tag == 'c') {
        walk_put(w, "'\\u{");
        walk_bytes(w, digits, len);
        walk_put(w, "}'");
    } else if (len > 16) {
        walk_put(w, "0x");
        walk_bytes(w, digits, len);
    } else {
        walk_number(w, value);
    }
}

static void constant(struct walk *w)
{
    if (!walk_enter(w))
        return;
    char tag = walk_next(w);
    if (tag == 'B') {
        walk_back(w, constant);
    } else if (tag == 'p') {
        walk_put(w, "_");
    } else if (tag != '\0' && strchr("abchijlmnostxy", tag)) {
        if (walk_take(w, 'n'))
            walk_put(w, "-");
        constant_number(w, tag);
    } else {
        w->bad = true; /* constants of other types have no readable names */
    }
    w->depth--;
}

size_t rust_v0(char *out, size_t room, const char *name, size_t len)
{
    if (len < 3 || room < 2 || strncmp(name, "_R", 2) != 0 || name[2] < 'A' || name[2] > 'Z')
        return 0;
    struct walk w = {.begin = name + 2, .at = name + 2, .end = name + len, .out = out, .room = room - 1, .value = true};
    path(&w);
    if (w.bad || !w.len)
        return 0;
    out[w.len] = '\0';
    return w.len;
}
