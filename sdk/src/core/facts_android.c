/*
 * facts_android.c - in an app, whose files say little of the device: the host tells model and version
 * (mire_options_set_device, mire_options_set_os), and the build.
 */
#include "core/facts.h"

#include "platform/platform.h"

#include <string.h>
#include <sys/utsname.h>

const char *mire__facts_state_folder(void)
{
    return "/cache";
}

/* The name of an app's process is its first word: "com.example.shop:sync". The kernel's has 15 bytes of it. */
void mire__facts_of_system(struct blackbox_facts *out)
{
    struct utsname names;
    char words[MIRE_FACT_BYTES];

    mire__text_copy(out->os, sizeof(out->os), "android");
    if (uname(&names) == 0)
        mire__text_copy(out->arch, sizeof(out->arch), names.machine);
    if (mire__file_read(words, sizeof(words), "/proc/self/cmdline") > 0)
        mire__text_copy(out->process_name, sizeof(out->process_name), words);
}
