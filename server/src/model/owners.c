/*
 * owners.c - see owners.h. GitHub's page "About code owners" and gitignore(5) describe the patterns. Each pattern takes time
 * in proportion to its length times the path's: of several ways past a star only the last one is tried again.
 */
#include "model/owners.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct piece {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct piece whole(const char *text)
{
    return (struct piece){text, text + strlen(text)};
}

/* --- patterns --- */

/* Does a whole name fit? * is any text, ? one character, \ makes the next one itself. */
static bool name_fits(struct piece pattern, struct piece name)
{
    const char *p = pattern.at, *t = name.at, *star = NULL, *from = NULL;

    while (t < name.end) {
        bool escaped = p + 1 < pattern.end && *p == '\\';
        if (p < pattern.end && *p == '*') {
            star = ++p;
            from = t;
        } else if (p < pattern.end && (*p == '?' || p[escaped] == *t)) {
            p += 1 + escaped;
            t++;
        } else if (star) {
            p = star;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.end && *p == '*')
        p++;
    return p == pattern.end;
}

/* The folder or file at the beginning of a path, and the rest behind it. */
static struct piece first_of(struct piece path)
{
    const char *slash = memchr(path.at, '/', (size_t)(path.end - path.at));
    return (struct piece){path.at, slash ? slash : path.end};
}

static const char *behind(struct piece path)
{
    const char *end = first_of(path).end;
    return end < path.end ? end + 1 : path.end;
}

static bool is_any_depth(struct piece part)
{
    return part.end - part.at == 2 && part.at[0] == '*' && part.at[1] == '*';
}

/* Does a whole path fit, folder by folder? ** is any number of folders. */
static bool path_fits(struct piece pattern, struct piece path)
{
    struct piece p = pattern, t = path, from = path;
    const char *star = NULL;

    while (t.at < t.end) {
        if (p.at < p.end && is_any_depth(first_of(p))) {
            star = p.at = behind(p);
            from = t;
        } else if (p.at < p.end && name_fits(first_of(p), first_of(t))) {
            p.at = behind(p);
            t.at = behind(t);
        } else if (star) {
            from.at = behind(from);
            p.at = star;
            t = from;
        } else {
            return false;
        }
    }
    while (p.at < p.end && is_any_depth(first_of(p)))
        p.at = behind(p);
    return p.at == p.end;
}

/* A path of a place, and which folders before it are not known. */
struct owned_path {
    char text[1024];
    bool is_package; /* folders of a package: those of the sources are not known */
    bool is_deep;    /* of a folder of the build that is not known */
};

/* Behind the folder of Java's or Kotlin's sources in a pattern. */
static const char *behind_sources(const char *at, const char *end)
{
    static const char *const folders[] = {"/java/", "/kotlin/"};
    const char *found = at;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = strlen(folders[i]);
        for (const char *c = at; c + len <= end; c++)
            if (!memcmp(c, folders[i], len) && c + len > found)
                found = c + len;
    }
    return found;
}

/* A pattern of a file or of a folder with all that is in it. */
static bool file_fits(struct piece pattern, const struct owned_path *path)
{
    char text[MIRE_OWNERS_PATTERN_MAX + 16];
    const char *at = pattern.at, *end = pattern.end, *sources = path->is_package ? behind_sources(at, end) : at;
    bool is_folder = end > at && end[-1] == '/', is_known = sources == at && !path->is_deep;
    end -= is_folder;
    bool is_anchored = sources > at || (end > at && memchr(at, '/', (size_t)(end - at)));
    at = sources > at ? sources : at + (at < end && *at == '/');
    bool is_flat = !is_folder && is_anchored && end - at >= 1 && end[-1] == '*' && (end - at < 2 || end[-2] == '/');

    if (at >= end)
        return is_folder && pattern.end - pattern.at == 1; /* "/" is all */
    const char *deep = is_anchored && (is_known || sources > pattern.at) ? "" : "**/";
    int len = snprintf(text, sizeof text, "%s%.*s/*/**", deep, (int)(end - at), at);
    if (len < 0 || (size_t)len >= sizeof text)
        return false;
    struct piece all = {text, text + len}, itself = {text, text + len - 5};
    return (!is_folder && path_fits(itself, whole(path->text))) || (!is_flat && path_fits(all, whole(path->text)));
}

/* --- places --- */

/* com.acme.Cart.lock: com/acme/ */
static void put_package(char *out, size_t room, const char *function)
{
    size_t len = strcspn(function, "(< "), parts = 1, last = 0, before = 0;

    *out = '\0';
    for (size_t i = 0; i < len; i++) {
        if (function[i] == ':' || function[i] == '+')
            return;
        if (function[i] == '.') {
            parts++;
            before = last;
            last = i;
        }
    }
    if (parts < 3 || before + 2 > room)
        return;
    for (size_t i = 0; i < before; i++)
        out[i] = (char)(function[i] == '.' ? '/' : function[i]);
    out[before] = '/';
    out[before + 1] = '\0';
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t own = strlen(end);
    return len >= own && !memcmp(text + len - own, end, own);
}

/* The place's file in the repository; an empty text: it has none there. */
static void find_path(struct owned_path *out, const struct owners_place *place)
{
    const char *file = place->location, *colon = strrchr(file, ':');
    size_t len = colon ? (size_t)(colon - file) : strlen(file), root = strlen(place->root);
    char package[512] = "";

    *out = (struct owned_path){.text = ""};
    if (!memchr(file, '/', len) && (ends_with(file, len, ".java") || ends_with(file, len, ".kt"))) {
        put_package(package, sizeof package, place->function);
        out->is_package = *package;
    }
    if (root && memchr(file, '/', len)) {
        root -= place->root[root - 1] == '/';
        if (len <= root || memcmp(file, place->root, root) != 0 || file[root] != '/')
            return;
        file += root + 1;
        len -= root + 1;
    } else if (len && *file == '/') {
        out->is_deep = true;
        file++;
        len--;
    }
    int size = snprintf(out->text, sizeof out->text, "%s%.*s", package, (int)len, file);
    if (size < 0 || (size_t)size >= sizeof out->text)
        out->text[0] = '\0';
}

/* The text behind "function:" or "module:"; NULL: it begins otherwise. */
static const char *named(struct piece pattern, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(pattern.end - pattern.at) > len && !memcmp(pattern.at, word, len) ? pattern.at + len : NULL;
}

static bool fits(struct piece pattern, const struct owners_place *place, const struct owned_path *path)
{
    const char *function = named(pattern, "function:"), *module = named(pattern, "module:");

    if (function)
        return name_fits((struct piece){function, pattern.end}, whole(place->function));
    if (module)
        return name_fits((struct piece){module, pattern.end}, whole(place->module));
    return path->text[0] && file_fits(pattern, path);
}

/* --- lines --- */

/* The next word of a line, up to a blank without \ before it; empty: there is none. */
static struct piece next_word(const char **at, const char *end)
{
    while (*at < end && is_blank(**at))
        ++*at;
    struct piece word = {*at, *at};
    while (word.end < end && !is_blank(*word.end))
        word.end += 1 + (*word.end == '\\' && word.end + 1 < end);
    *at = word.end;
    return word;
}

/* Behind the head of a section, [Name], ^[Name] or [Name][2]; NULL: the line is none. */
static const char *section_end(const char *at, const char *end)
{
    at += at < end && *at == '^';
    if (at == end || *at != '[')
        return NULL;
    const char *close = at;
    while (close && close + 1 < end && (close == at || *close == '['))
        close = memchr(close, ']', (size_t)(end - close)) ? (const char *)memchr(close, ']', (size_t)(end - close)) + 1
                                                          : NULL;
    return close;
}

static size_t read_owners(struct owner *out, const char *at, const char *end)
{
    size_t count = 0;

    for (struct piece word = next_word(&at, end); word.at < word.end && *word.at != '#'; word = next_word(&at, end))
        if (count < MIRE_OWNERS_MAX)
            out[count++] = (struct owner){word.at, (size_t)(word.end - word.at)};
    return count;
}

struct owner_line {
    unsigned line;
    struct piece pattern;  /* empty: the line is a comment or a section */
    const char *behind;    /* the pattern */
    const char *end;       /* of the line */
    struct piece defaults; /* owners of the section */
};

/* The next line of the rules; false at their end. */
static bool next_line(struct owner_line *rule, const char **at)
{
    const char *begin = *at;

    if (!*begin)
        return false;
    rule->line++;
    rule->end = begin + strcspn(begin, "\n");
    *at = rule->end + (*rule->end == '\n');
    while (begin < rule->end && is_blank(*begin))
        begin++;
    rule->pattern = (struct piece){begin, begin};
    rule->behind = begin;
    const char *section = section_end(begin, rule->end);
    if (section)
        rule->defaults = (struct piece){section, rule->end};
    else if (begin < rule->end && *begin != '#')
        rule->pattern = next_word(&rule->behind, rule->end);
    return true;
}

void owners_find(struct owners_found *out, const char *rules, const struct owners_place *place)
{
    struct owner_line rule = {0};
    struct owned_path path;

    find_path(&path, place);
    *out = (struct owners_found){.line = 0};
    while (next_line(&rule, &rules)) {
        if (rule.pattern.at == rule.pattern.end || !fits(rule.pattern, place, &path))
            continue;
        out->line = rule.line;
        out->pattern = rule.pattern.at;
        out->pattern_len = (size_t)(rule.pattern.end - rule.pattern.at);
        out->count = read_owners(out->owners, rule.behind, rule.end);
        if (!out->count && rule.defaults.at)
            out->count = read_owners(out->owners, rule.defaults.at, rule.defaults.end);
    }
}

unsigned owners_wrong(const char **why_out, const char *rules)
{
    struct owner_line rule = {0};

    while (next_line(&rule, &rules)) {
        struct owner owners[MIRE_OWNERS_MAX];
        size_t count = read_owners(owners, rule.behind, rule.end);
        if (rule.pattern.at == rule.pattern.end)
            continue;
        *why_out = NULL;
        if (*rule.pattern.at == '!')
            *why_out = "a pattern cannot be excluded by !";
        if (rule.pattern.end - rule.pattern.at > MIRE_OWNERS_PATTERN_MAX)
            *why_out = "the pattern is longer than 500 bytes";
        for (size_t i = 0; i < count; i++)
            if (!memchr(owners[i].name, '@', owners[i].len))
                *why_out = "an owner is @account, @group/account or an e-mail address";
        if (*why_out)
            return rule.line;
    }
    return 0;
}

static bool is_name(const char *at, size_t len, const char *account)
{
    return len && strlen(account) == len && !strncasecmp(at, account, len);
}

bool owner_is(const struct owner *owner, const char *account)
{
    const char *at = owner->name, *end = at + owner->len, *sign = memchr(at, '@', owner->len);

    if (sign != at)
        return is_name(at, owner->len, account) || (sign && is_name(at, (size_t)(sign - at), account));
    at++;
    const char *slash = memchr(at, '/', (size_t)(end - at));
    return is_name(at, (size_t)(end - at), account) ||
           (slash && is_name(slash + 1, (size_t)(end - slash - 1), account));
}
