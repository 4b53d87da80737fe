/*
 * listed.h - a page of the issue list, with the devices of its groups.
 */
#ifndef MIRE_API_ISSUES_LISTED_H
#define MIRE_API_ISSUES_LISTED_H

#include "api/call.h"
#include "rows/devices.h"
#include "rows/issues.h"

#define MIRE_NOT_COUNTED (-1) /* devices of all matching groups together, where too many issues match */

/*
 * Read the page that an order asks for.
 *
 *   kept   the devices of the groups on the page, and of all that match
 *   order  its devices are set
 *
 * 0 or a fault.
 */
int listed_read(struct group_page *page, struct kept *kept, struct group_order *order, struct call *call);

#endif
