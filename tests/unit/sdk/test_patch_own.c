/* test_patch_own.c - where calls by a name lead to; in a program that is not position-independent. */
#include "patch/patch.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The program's own, and exported. */
__attribute__((visibility("default"))) int own_of_the_test(void);
int own_of_the_test(void)
{
    return 7;
}

static void a_taken_address_is_the_programs_but_calls_lead_on(void **state)
{
    void (*volatile taken)(void *) = free; /* linked so, the program has a place of its own for it */

    (void)state;
    assert_ptr_equal(dlsym(RTLD_DEFAULT, "free"), (void *)taken);
    assert_ptr_not_equal((void *)taken, dlsym(RTLD_NEXT, "free"));
    assert_ptr_equal(mire__patch_own("free"), dlsym(RTLD_NEXT, "free"));
}

static void other_names_lead_where_the_loader_says(void **state)
{
    (void)state;
    assert_ptr_equal(mire__patch_own("getppid"), dlsym(RTLD_DEFAULT, "getppid"));
    assert_ptr_equal(mire__patch_own("own_of_the_test"), (void *)own_of_the_test);
    assert_null(mire__patch_own("nobody_has_such_a_function"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_address_is_the_programs_but_calls_lead_on),
        cmocka_unit_test(other_names_lead_where_the_loader_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
