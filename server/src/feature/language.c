/* language.c - by the ending of the file, otherwise by a form of name that only one language has. */
#include "feature/language.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char *const names[MIRE_LANGUAGE_COUNT] = {"",       "c",     "cpp",  "rust", "go",     "java",
                                                       "kotlin", "swift", "objc", "d",    "python", "javascript"};

static const struct {
    const char *ending;
    enum language language;
} endings[] = {
    {"c", MIRE_LANGUAGE_C},
    {"cc", MIRE_LANGUAGE_CPP},
    {"cpp", MIRE_LANGUAGE_CPP},
    {"cxx", MIRE_LANGUAGE_CPP},
    {"hpp", MIRE_LANGUAGE_CPP},
    {"hh", MIRE_LANGUAGE_CPP},
    {"rs", MIRE_LANGUAGE_RUST},
    {"go", MIRE_LANGUAGE_GO},
    {"java", MIRE_LANGUAGE_JAVA},
    {"kt", MIRE_LANGUAGE_KOTLIN},
    {"swift", MIRE_LANGUAGE_SWIFT},
    {"m", MIRE_LANGUAGE_OBJC},
    {"mm", MIRE_LANGUAGE_OBJC},
    {"d", MIRE_LANGUAGE_D},
    {"py", MIRE_LANGUAGE_PYTHON},
    {"js", MIRE_LANGUAGE_JAVASCRIPT},
    {"mjs", MIRE_LANGUAGE_JAVASCRIPT},
    {"cjs", MIRE_LANGUAGE_JAVASCRIPT},
};

enum language language_of_name(const char *name)
{
    for (int i = 1; i < MIRE_LANGUAGE_COUNT; i++)
        if (!strcmp(names[i], name))
            return (enum language)i;
    return MIRE_LANGUAGE_UNKNOWN;
}

static bool is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* Does the character stand in names of Java: letters, digits, $ and _; those of <init>, of lambdas and of arrays? */
static bool is_java(char c)
{
#define BIT(c) (1ull << ((c)&63))
    static const uint64_t set[4] = {0x03ffull << '0' | BIT('$') | BIT('<') | BIT('>') | BIT('-'),
                                    0x07fffffe07fffffeull | BIT('_') | BIT('[') | BIT(']')};
#undef BIT
    return set[(unsigned char)c >> 6] >> ((unsigned char)c & 63) & 1;
}

/* org.eclipse.Main$1.run: words of Java with at least two dots between. */
static bool is_dotted(const char *name)
{
    int dots = 0;
    if (!is_letter(name[0]))
        return false;
    for (; *name && *name != '('; name++) {
        if (*name == '.')
            dots++;
        else if (!is_java(*name))
            return false;
    }
    return dots >= 2;
}

static bool has_colons(const char *name)
{
    for (name = strchr(name, ':'); name; name = strchr(name + 1, ':'))
        if (name[1] == ':')
            return true;
    return false;
}

enum language language_of(const char *function, const char *file)
{
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot + 1, endings[i].ending))
            return endings[i].language;
    if ((function[0] == '-' || function[0] == '+') && function[1] == '[')
        return MIRE_LANGUAGE_OBJC;
    if (has_colons(function))
        return function[0] == '<' || !strncmp(function, "core::", 6) || !strncmp(function, "alloc::", 7)
                   ? MIRE_LANGUAGE_RUST
                   : MIRE_LANGUAGE_CPP;
    return is_dotted(function) ? MIRE_LANGUAGE_JAVA : MIRE_LANGUAGE_UNKNOWN;
}
