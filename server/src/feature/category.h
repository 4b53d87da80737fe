/*
 * category.h - which kind of trouble it is, by the facts alone. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CATEGORY_H
#define MIRE_FEATURE_CATEGORY_H

#include "model/category.h"

/* The kind. What the device guessed has no say. */
enum event_category category_find(const struct report *report);

#endif
