/*
 * filter.h - shows a report to the app before it is sent (mire_options_set_before_send). Private to upload/.
 */
#ifndef MIRE_UPLOAD_FILTER_H
#define MIRE_UPLOAD_FILTER_H

#include "upload/upload.h"

#define MIRE_FILTER_JSON_MAX (16u << 20) /* bytes, unpacked: twice what a report may have */

/*
 * Show a sealed report's body to the app.
 *
 * Returns MIRE_OK        send it; also without a callback
 *         MIRE_E_STATE   the app has dropped it
 *         MIRE_E_FORMAT  it cannot be unpacked
 *         MIRE_E_MEMORY
 */
enum mire_err mire__filter_ask(const struct upload_options *options, const void *body, size_t size);

#endif
