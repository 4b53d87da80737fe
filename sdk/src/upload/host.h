/*
 * host.h - the app as the transport: its function, asked as mire/delivery.h says. Private to upload/.
 */
#ifndef MIRE_UPLOAD_HOST_H
#define MIRE_UPLOAD_HOST_H

#include "upload/upload.h"

/* As mire__upload_open; the options' transport is set. `transport_out` lives until fini. */
enum mire_err mire__host_init(struct transport *transport_out, const struct upload_options *options);
void mire__host_fini(struct transport *transport);

#endif
