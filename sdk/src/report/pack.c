/*
 * pack.c - compresses reports by the zstd that is linked. See report.h.
 */
#include "report/report.h"

#include <zstd.h>

mire__pack_fn *mire__report_pack = ZSTD_compress;
