/*
 * category.h - the kind of an event, by its facts alone. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CATEGORY_H
#define MIRE_FEATURE_CATEGORY_H

#include "model/category.h"

/* The kind. The device's guess is ignored. */
enum event_category category_find(const struct report *report);

#endif
