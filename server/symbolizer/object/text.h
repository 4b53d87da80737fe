/*
 * text.h - parses the numbers in lines of text files.
 */
#ifndef MIRE_OBJECT_TEXT_H
#define MIRE_OBJECT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Cursor over the numbers of one line. Each number ends with one blank or the end of the line. */
struct text_numbers {
    const char *at; /* after the last number and its blank */
    bool failed;    /* a number was missing or had more than 64 bits */
};

static inline uint64_t text_number(struct text_numbers *numbers, unsigned base)
{
    const char *p = numbers->at;
    uint64_t value = 0;
    for (;; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                         : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10
                                                  : 99;
        if (digit >= base)
            break;
        numbers->failed |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    numbers->failed |= p == numbers->at || (*p && *p != ' ');
    numbers->at = p + (*p == ' ');
    return value;
}

static inline uint64_t text_hex(struct text_numbers *numbers)
{
    return text_number(numbers, 16);
}

static inline uint64_t text_decimal(struct text_numbers *numbers)
{
    return text_number(numbers, 10);
}

#endif
