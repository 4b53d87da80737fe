/*
 * whose.h - is a module the app's? Inside feature/ only.
 *
 *     the program itself                                                     own
 *     a rule says so                            own libgeany*                own
 *     its package has the program's source,
 *     or it is of the same build                libevview3-3, evince         own
 *     the same, in a folder for few programs    /opt/shop/lib/libQt6Core.so  bundled: own, unless a pack names the module
 *     it lies in a folder of the program's      /usr/lib/evince/4/x.so       bundled
 *     its package has another source            libgtk-3-0, evince           other
 *     else                                                                   unknown
 */
#ifndef MIRE_FEATURE_WHOSE_H
#define MIRE_FEATURE_WHOSE_H

#include "feature/rules.h"
#include "model/report.h"

enum whose { MIRE_WHOSE_UNKNOWN, MIRE_WHOSE_OWN, MIRE_WHOSE_BUNDLED, MIRE_WHOSE_OTHER };

/*
 * `image` of the report, NULL: none, as of an address in no module, or a script's file; `program` the path of its
 * executable.
 */
enum whose whose_find(const struct report_image *image, const char *program, const struct rules_module *rules);

/* Does a module lie in a directory of that program? Both are paths. */
bool whose_folder(const char *module, const char *program);

#endif
