/* one_stack.c - see one_stack.h. */
#include "one_stack.h"

void one_stack_fill(struct one_stack *out, const char *const *names, size_t count, const char *image)
{
    out->doc = (struct resolved){MIRE_RESOLVED_NOTHING, .locations = out->locations, .nodes = out->nodes,
                                 .samples = &out->sample};
    count = count < ONE_STACK_FRAMES ? count : ONE_STACK_FRAMES;
    for (size_t i = 0; i < count; i++) {
        out->locations[i] = (struct resolved_location){.function = names[i], .image = image, .file = "", .named = true};
        out->nodes[i + 1] = (struct resolved_node){(uint32_t)i, (uint32_t)(count - 1 - i)};
    }
    out->doc.location_count = count;
    out->doc.node_count = count + 1;
    out->doc.sample_count = 1;
    out->sample = (struct report_sample){.weight_ms = 1, .node = (uint32_t)count, .state = '?', .syscall = -1};
    out->image = (struct report_image){.name = image, .script = ""};
    out->report = (struct report){.image_count = image[0] ? 1 : 0, .images = &out->image};
    out->report.event.trigger = "busy";
    out->report.event.name = "";
    out->report.event.sample_count = 1;
    out->report.device.arch = out->report.process.path = "";
}
