/*
 * plugin.c - a module to load and unload.
 */
void plugin_touch(void);

static volatile unsigned touched;

void plugin_touch(void)
{
    touched++;
}
