/*
 * bindings.h - rows of the tables of fields by which the parts of the document are read. Inside document/ only.
 */
#ifndef MIRE_DOCUMENT_BINDINGS_H
#define MIRE_DOCUMENT_BINDINGS_H

#include "json/bind.h"

#include <stddef.h>

#define ITEMS_MAX    (1u << 22)
#define FUNCTION_MAX (1u << 16) /* characters; C++ names are long */

/* Rows of a table of fields; a field is called as its member. */
#define NUMBER(type, member, how, most)                                             \
    {                                                                               \
        .name = #member, .want = how, .offset = offsetof(type, member), .max = most \
    }
#define TEXT(type, member)                                                                             \
    {                                                                                                  \
        .name = #member, .want = MIRE_BIND_TEXT, .offset = offsetof(type, member), .max = FUNCTION_MAX \
    }
#define COLUMN(type, member, most)                                                                \
    {                                                                                             \
        .name = #member, .want = MIRE_BIND_COLUMN, .offset = offsetof(type, member), .max = most, \
        .items_max = ITEMS_MAX, .required = true                                                  \
    }
#define OTHER(field, function)                                   \
    {                                                            \
        .name = field, .want = MIRE_BIND_OTHER, .read = function \
    }
#define COUNT(table) (sizeof(table) / sizeof *(table))
#define FLAG(type, member)                                                        \
    {                                                                             \
        .name = #member, .want = MIRE_BIND_BOOL, .offset = offsetof(type, member) \
    }

#endif
