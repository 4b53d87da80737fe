/* mappings.c - see mappings.h. */
#include "fetch/mappings.h"

#include "base/fault.h"
#include "base/id.h"

#include <ctype.h>
#include <string.h>

#define R8_MARK   "r8-map-id-"
#define LEAST_LEN 4 /* digits of the shortest id */

/* "r8-map-id-5b46fdc" -> 5b46fdc0, as the mapping itself is known (object/mapping.c). */
static bool read_r8_id(struct report_image *image, const char *file)
{
    char digits[2 * MIRE_BUILD_ID_MAX + 1] = "";
    size_t count = 0;

    if (strncmp(file, R8_MARK, strlen(R8_MARK)) != 0)
        return false;
    for (file += strlen(R8_MARK); count < sizeof digits - 1 && isxdigit((unsigned char)file[count]); count++)
        digits[count] = file[count];
    if (count < LEAST_LEN)
        return false;
    if (count % 2)
        digits[count++] = '0';
    image->id_len = (uint8_t)(count / 2);
    return hex_parse(image->id, digits, image->id_len);
}

static bool find_r8_id(struct report_image *image, const struct report *report, int32_t number)
{
    for (size_t i = 0; i < report->frame_count; i++)
        if (report->frames[i].image == number && read_r8_id(image, report->java[report->frames[i].offset].file))
            return true;
    return false;
}

int mappings_name(struct report *report, struct arena *arena, int32_t app_id)
{
    size_t unnamed = 0;

    for (size_t i = 0; i < report->image_count; i++)
        unnamed += report->images[i].java && !report->images[i].id_len;
    if (!unnamed)
        return 0;
    struct report_image *images = arena_array(arena, report->image_count, sizeof *images);
    if (!images)
        return MIRE_FAULT_MEMORY;
    memcpy(images, report->images, report->image_count * sizeof *images);
    for (size_t i = 0; i < report->image_count; i++) {
        struct report_image *image = &images[i];
        if (!image->java || image->id_len || find_r8_id(image, report, (int32_t)i))
            continue;
        mapping_id(image->id, app_id, report->app.version, report->app.build);
        image->id_len = MIRE_MAPPING_ID_LEN;
        image->by_version = true;
    }

    report->images = images;
    return 0;
}
