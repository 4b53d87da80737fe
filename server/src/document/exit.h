/*
 * exit.h - the wire's section "exit" (schema/wire/report.schema.json), in the report and in the resolved document alike.
 */
#ifndef MIRE_DOCUMENT_EXIT_H
#define MIRE_DOCUMENT_EXIT_H

#include "json/bind.h"
#include "json/write.h"
#include "model/exit.h"

/* Read the object at `at`. `out` is zeroed but for its texts, which are "". */
enum bind_outcome exit_read(struct bind *bind, struct report_exit *out, uint32_t at);

/* Write it under `key`, in the same form; nothing if it is not known. */
void exit_write(struct json_writer *w, const char *key, const struct report_exit *exit);

#endif
