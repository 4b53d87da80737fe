/*
 * object_app.c - a program that makes GObjects: 300 tiles, of which it releases 100, 40 layers, and 20 GFiles.
 *
 *     object_app STORE    with libmire: makes one report of itself, named "objects"
 *     object_plain        built without libmire
 *
 * A tile has private data, which precedes the instance in memory; a layer has none.
 */
#include <gio/gio.h>

#ifdef WITH_MIRE
#include <mire/memory.h>
#include <mire/mire.h>

#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#endif

typedef struct {
    GObject parent;
    double at[2];
} TestTile;
typedef struct {
    GObjectClass parent;
} TestTileClass;
typedef struct {
    char pixels[72];
} TestTilePrivate;
G_DEFINE_TYPE_WITH_PRIVATE(TestTile, test_tile, G_TYPE_OBJECT)

static void test_tile_init(TestTile *tile)
{
    TestTilePrivate *own = test_tile_get_instance_private(tile);

    own->pixels[0] = 1;
}

static void test_tile_class_init(TestTileClass *class)
{
    (void)class;
}

typedef struct {
    GObject parent;
    TestTile *shown;
} TestLayer;
typedef struct {
    GObjectClass parent;
} TestLayerClass;
G_DEFINE_TYPE(TestLayer, test_layer, G_TYPE_OBJECT)

/* An object whose initialization makes another object. */
static void test_layer_init(TestLayer *layer)
{
    layer->shown = g_object_new(test_tile_get_type(), NULL);
}

static void test_layer_finalize(GObject *object)
{
    g_object_unref(((TestLayer *)(void *)object)->shown);
    G_OBJECT_CLASS(test_layer_parent_class)->finalize(object);
}

static void test_layer_class_init(TestLayerClass *class)
{
    G_OBJECT_CLASS(class)->finalize = test_layer_finalize;
}

static void *held[360];

static void make_objects(void)
{
    for (int i = 0; i < 260; i++)
        held[i] = i % 2 ? g_object_new(test_tile_get_type(), NULL)
                        : g_object_new_with_properties(test_tile_get_type(), 0, NULL, NULL);
    for (int i = 260; i < 300; i++)
        held[i] = g_object_new(test_layer_get_type(), NULL); /* and 40 tiles */
    for (int i = 300; i < 320; i++)
        held[i] = g_file_new_for_path("/tmp/nothing");
    for (int i = 0; i < 100; i++)
        g_object_unref(held[i]);
}

#ifdef WITH_MIRE
static int report(const char *store)
{
    char sealed[4096];
    int found = 0;

    if (mire_memory_report("objects") != MIRE_OK)
        return 1;
    snprintf(sealed, sizeof(sealed), "%s/out/*.report", store);
    while (!found) {
        glob_t paths = {.gl_pathc = 0};

        poll(NULL, 0, 10);
        found = glob(sealed, 0, NULL, &paths) == 0;
        globfree(&paths);
    }
    return 0;
}

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();

    if (argc != 2)
        return 2;
    mire_options_set_app(options, "object_app", "1.0");
    mire_options_set_store(options, argv[1]);
    mire_options_set_memory(options, MIRE_MEMORY_EXACT, 0);
    if (mire_start(options) != MIRE_OK)
        return 1;
    mire_options_free(options);
    make_objects();
    return report(argv[1]);
}
#else
int main(void)
{
    make_objects();
    return 0;
}
#endif
