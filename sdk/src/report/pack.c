/*
 * pack.c - reports are compressed by the zstd that the program comes with. See report.h.
 */
#include "report/report.h"

#include <zstd.h>

mire__pack_fn *mire__report_pack = ZSTD_compress;
