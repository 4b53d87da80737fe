/*
 * language.h - the language of a function, by its name and file.
 */
#ifndef MIRE_FEATURE_LANGUAGE_H
#define MIRE_FEATURE_LANGUAGE_H

enum language {
    MIRE_LANGUAGE_UNKNOWN,
    MIRE_LANGUAGE_C,
    MIRE_LANGUAGE_CPP,
    MIRE_LANGUAGE_RUST,
    MIRE_LANGUAGE_GO,
    MIRE_LANGUAGE_JAVA,
    MIRE_LANGUAGE_KOTLIN,
    MIRE_LANGUAGE_SWIFT,
    MIRE_LANGUAGE_OBJC,
    MIRE_LANGUAGE_D,
    MIRE_LANGUAGE_PYTHON,
    MIRE_LANGUAGE_JAVASCRIPT,
    MIRE_LANGUAGE_COUNT
};

/*
 *   function  demangled; "" if unknown
 *   file      "" if unknown: then the name alone is asked, and a plain name is anybody's
 */
enum language language_of(const char *function, const char *file);

/* As in rules: c, cpp, rust, go, java, kotlin, swift, objc, d, python, javascript. MIRE_LANGUAGE_UNKNOWN: no such name.
 */
enum language language_of_name(const char *name);

#endif
