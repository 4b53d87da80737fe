/* script.c - frames of scripts arrive with their names; the module of a frame is its file. */
#include "symbolicate/inside.h"

#include "base/fault.h"
#include "base/path.h"
#include "symbolicate/perf.h"

#include <string.h>

static int fill(struct resolved_location *out, struct arena *arena, const struct report_image *image,
                const struct report_script *row)
{
    struct perf_place perf = {row->function, row->file, path_base(row->file), row->line};
    int rc = strcmp(image->script, "perf") || row->file[0] ? 0 : perf_parse(&perf, arena, row->function);
    if (!rc)
        *out = (struct resolved_location){.function = perf.function,
                                          .image = perf.image[0] ? perf.image : image->name,
                                          .file = perf.file,
                                          .line = perf.line,
                                          .named = true,
                                          .script = true};
    return rc;
}

int symbolicate_script(struct symbolicate_job *job, const struct report_image *image, const uint32_t *order,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_script *row = &job->report->scripts[job->report->frames[order[i]].offset];
        job->chains[order[i]] = (struct chain){(uint32_t)job->location_count, 1};
        struct resolved_location *location = symbolicate_add(job);
        if (!location)
            return MIRE_FAULT_MEMORY;
        int rc = fill(location, job->arena, image, row);
        if (rc)
            return rc;
    }
    return 0;
}
