/* The frames that similarity is computed from. */
#include "feature/characteristic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void frames_of_the_app_and_libraries_tell(void **state)
{
    (void)state;
    const struct frame_line frames[] = {{MIRE_ROLE_RUNTIME, "memcpy", "libc.so.6"},
                                        {MIRE_ROLE_APP, "sum", "app"},
                                        {MIRE_ROLE_DISPATCH, "loop", "app"},
                                        {MIRE_ROLE_SYSTEM, "gtk_main", "libgtk.so"}};
    uint64_t hashes[4];
    uint32_t locations[4];
    assert_int_equal(characteristic_frames(hashes, locations, frames, 4), 2);
    assert_true(locations[0] == 1 && locations[1] == 3 && hashes[0] != hashes[1]);
    assert_int_equal(characteristic_frames(hashes, locations, frames, 1),
                     1); /* no frame is significant: all are used */
    assert_int_equal(locations[0], 0);
}

static void builds_of_one_function_are_one_frame(void **state)
{
    (void)state;
    const struct frame_line frames[] = {{MIRE_ROLE_APP, "a.Main.lambda$add$0", "app"},
                                        {MIRE_ROLE_APP, "a.Main.lambda$add$3", "app"},
                                        {MIRE_ROLE_APP, "a.Main.add", "app"}};
    uint64_t hashes[3];
    uint32_t locations[3];
    assert_int_equal(characteristic_frames(hashes, locations, frames, 3), 3);
    assert_true(hashes[0] == hashes[1] && hashes[1] != hashes[2]);
}

static void functions_without_names_are_told_apart(void **state)
{
    (void)state;
    const struct frame_line frames[] = {{MIRE_ROLE_APP, "shop+0x1f40", "shop"},
                                        {MIRE_ROLE_APP, "shop+0x2a80", "shop"},
                                        {MIRE_ROLE_APP, "libcart.so+0x1f40", "libcart.so"}};
    uint64_t hashes[3];
    uint32_t locations[3];
    assert_int_equal(characteristic_frames(hashes, locations, frames, 3), 3);
    assert_true(hashes[0] != hashes[1] && hashes[0] != hashes[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_app_and_libraries_tell),
        cmocka_unit_test(builds_of_one_function_are_one_frame),
        cmocka_unit_test(functions_without_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
