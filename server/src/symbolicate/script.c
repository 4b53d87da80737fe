/* script.c - frames of scripts have their names already; a script's module is its file. */
#include "symbolicate/inside.h"

#include "base/fault.h"

#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int symbolicate_script(struct job *job, const struct report_image *image, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_script *row = &job->report->scripts[job->report->frames[order[i]].offset];
        job->chains[order[i]] = (struct chain){(uint32_t)job->place_count, 1};
        struct resolved_place *place = symbolicate_add(job);
        if (!place)
            return MIRE_FAULT_MEMORY;
        *place = (struct resolved_place){.function = row->function,
                                         .image = row->file[0] ? base_name(row->file) : image->name,
                                         .file = row->file,
                                         .line = row->line,
                                         .named = true,
                                         .script = true};
    }
    return 0;
}
