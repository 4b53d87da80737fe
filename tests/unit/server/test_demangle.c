/* Readable names of every language. */
#include "symbolizer/symbolizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

/* Check that each name is read as the text beside it. */
static void assert_read(const char *const names[][2], size_t count)
{
    char out[512];
    for (size_t i = 0; i < count; i++) {
        size_t len = symbol_demangle(out, sizeof out, names[i][0]);
        assert_string_equal(out, names[i][1]);
        assert_int_equal(len, strlen(out));
    }
}

static void names_are_demangled(void **state)
{
    (void)state;
    char out[64];
    symbol_demangle(out, sizeof out, "_ZN3foo3barEi");
    assert_string_equal(out, "foo::bar(int)");
    symbol_demangle(out, sizeof out, "_ZN5rsapp6orders8sort_all17h8ad6e3d46a3647b0E");
    assert_string_equal(out, "rsapp::orders::sort_all");
    symbol_demangle(
        out, sizeof out,
        "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h4955c04342d2c441E.llvm.18088968993357556268");
    assert_string_equal(out, "std::rt::lang_start::{{closure}}");
    symbol_demangle(out, sizeof out, "_ZN47_$LT$rsapp..Book$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE");
    assert_string_equal(out, "<rsapp::Book as core::ops::Drop>::drop");
    symbol_demangle(out, sizeof out, "_ZN1a12d$ue9$j$ue0$14$u6a21$$u5757$4size17h0123456789abcdefE");
    assert_string_equal(out, "a::d\u00e9j\u00e0::\u6a21\u5757::size");
    symbol_demangle(out, sizeof out, "_ZN1a6$u7f$x4size17h0123456789abcdefE"); /* a control character */
    assert_string_equal(out, "a::$u7f$x::size");
    symbol_demangle(out, sizeof out, "_ZN1a4sort17h0123456789abcdefE.cold");
    assert_string_equal(out, "a::sort.cold");
    symbol_demangle(out, sizeof out, "_ZN1a4sort17h0123456789abcdefE.part.0");
    assert_string_equal(out, "a::sort.part.0");
    symbol_demangle(out, sizeof out, "_Z4openPZ4openiE14_Z4openi.Frame.actor"); /* gcc's coroutines, as clang's are */
    assert_string_equal(out, "open(int) [clone .actor]");
    symbol_demangle(out, sizeof out,
                    "_$LT$a..Book$u20$as$u20$b..Drop$GT$::drop::h0123456789abcdef"); /* by C++'s rules */
    assert_string_equal(out, "<a::Book as b::Drop>::drop");
    symbol_demangle(out, sizeof out, "a::Book::drop::h0123456789abcde"); /* no hash */
    assert_string_equal(out, "a::Book::drop::h0123456789abcde");
    symbol_demangle(out, sizeof out, "keysCommand");
    assert_string_equal(out, "keysCommand");
    symbol_demangle(out, sizeof out, "_Znonsense");
    assert_string_equal(out, "_Znonsense");
    assert_int_equal(symbol_demangle(out, 4, "keysCommand"), 3);
    assert_string_equal(out, "key");
}

/* The nth substitution in a C++ name: S_, S0_, ... S9_, SA_, ... */
static size_t put_reference(char *out, unsigned n)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char reversed[8];
    size_t count = 0, len = 0;

    out[len++] = 'S';
    for (unsigned left = n; left > 0; left = (left - 1) / 36)
        reversed[count++] = digits[(left - 1) % 36];
    /* the number of S_ is none, of S0_ 0 */
    while (count > 0)
        out[len++] = reversed[--count];
    out[len++] = '_';
    return len;
}

/*
 * Nested pairs, each with twice as much text as the inner one: after `front`, in which std::pair is the substitution
 * `pair` and the innermost pair the next one.
 */
static void make_pairs(char *out, const char *front, unsigned pair, unsigned count, const char *end)
{
    size_t len = strlen(front);

    memcpy(out, front, len);
    for (unsigned i = 0; i < count; i++) {
        len += put_reference(out + len, pair);
        out[len++] = 'I';
        len += put_reference(out + len, pair + 1 + i);
        len += put_reference(out + len, pair + 1 + i);
        out[len++] = 'E';
    }
    strcpy(out + len, end);
}

static void names_that_stand_for_gigabytes_are_cut_or_left(void **state)
{
    (void)state;
    char name[4096], out[65536];

    make_pairs(name, "_Z1fSt4pairIiiE", 0, 3, "");
    symbol_demangle(out, sizeof out, name);
    assert_memory_equal(out, "f(std::pair<int, int>, std::pair<std::pair<int, int>, ", 54);
    make_pairs(name, "_Z1fSt4pairIiiE", 0, 80, "");
    assert_in_range(symbol_demangle(out, sizeof out, name), 1000, 16384);
    /* Nothing is printed before the tree below the pack has been searched on every path. */
    make_pairs(name, "_Z1fIJiEEvDpSt5tupleISt4pairIiiE", 2, 3, "E");
    symbol_demangle(out, sizeof out, name);
    assert_memory_equal(out, "void f<int>((std::tuple<std::pair<int, int>, ", 45);
    make_pairs(name, "_Z1fIJiEEvDpSt5tupleISt4pairIiiE", 2, 80, "E");
    symbol_demangle(out, sizeof out, name);
    assert_string_equal(out, name);
}

#ifndef __SANITIZE_THREAD__ /* where they are not read at all */
static void names_that_take_long_do_so_together(void **state)
{
    (void)state;
    char name[4096], out[65536];
    uint64_t left_ns = 150000000;
    const uint64_t left_after[] = {50000000, 0, 0};
    make_pairs(name, "_Z1fIJiEEvDpSt5tupleISt4pairIiiE", 2, 80, "E");
    for (size_t i = 0; i < sizeof left_after / sizeof *left_after; i++) {
        symbol_demangle_within(out, sizeof out, name, &left_ns);
        assert_string_equal(out, name);
        assert_int_equal(left_ns, left_after[i]);
    }
    symbol_demangle_within(out, sizeof out, "_ZN4shop4Cart3addEi", &left_ns);
    assert_string_equal(out, "shop::Cart::add(int)");
    left_ns = 150000000;
    make_pairs(name, "_Z1fIJiEEvDpSt5tupleISt4pairIiiE", 2, 17, "E"); /* potentially slow, but fast */
    symbol_demangle_within(out, sizeof out, name, &left_ns);
    assert_memory_equal(out, "void f<int>((", 13);
    assert_true(left_ns > 50000000);
}
#endif

/* As libiberty reads them, except for the order inside function types, which is that of D's sources, and attributes. */
static void names_of_d_are_readable(void **state)
{
    static const char *const names[][2] = {
        {"_Dmain", "D main"},
        {"_D4shop4Cart3addMFiZv", "shop.Cart.add(int)"},
        {"_D8demangle4testFHAbaZv", "demangle.test(char[bool[]])"},
        {"_D8demangle4testFHG42caZv", "demangle.test(char[creal[42]])"},
        {"_D8demangle4testFLAiYv", "demangle.test(lazy int[], ...)"},
        {"_D8demangle4testFPFNaNbZaZv", "demangle.test(char function())"},
        {"_D8demangle4testFDONgxFZaZv", "demangle.test(char delegate() shared inout const)"},
        {"_D8demangle4testMONgxFZv", "demangle.test() shared inout const"},
        {"_D8demangle4test6__ctorMFZv", "demangle.test.this()"},
        {"_D8demangle4test6__initZ", "demangle.test.__init"},
        {"_D8demangle16__T4testTaTOiTaZv", "demangle.test!(char, shared(int), char)"},
        {"_D8demangle32__T4testS20_D6symbol3foo3barFZvZv", "demangle.test!(symbol.foo.bar())"},
        {"_D8demangle15__T4testVlN123Zv", "demangle.test!(-123L)"},
        {"_D8demangle17__T4testVde0A8P6Zv", "demangle.test!(0x0.A8p6)"},
        {"_D8demangle22__T4testVG3ua3_616263Zv", "demangle.test!(\"abc\")"},
        {"_D8demangle23__T4testVHiiA2i1i2i3i4Zv", "demangle.test!([1:2, 3:4])"},
        {"_D8demangle004testFaZv", "demangle.test(char)"},
        {"_D3std5ascii9uppercaseyAa", "std.ascii.uppercase"},
        {"_D1a1bPFiZi", "a.b"},
        {"_D3std6digest2md3MD53putMFNaNbNeMAxhXv", "std.digest.md.MD5.put(scope const(ubyte)[]...)"},
        {"_D8demangle3fnAFZ3fnBMFZv", "demangle.fnA().fnB()"},
        {"_D3std5stdio__T7writelnTAyaZQnFNfQjZv", "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])"},
        {"_D2gc11gctemplates56__T8mkBitmapTS3std5range13__T4iotaTiTiZ4iotaFiiZ6ResultZ8mkBitmapFNbNiNfPmmZv",
         "gc.gctemplates.mkBitmap!(std.range.iota!(int, int).iota(int, int).Result).mkBitmap(ulong*, ulong)"},
        {"_D88", "_D88"},
        {"_D1aF", "_D1aF"},
        {"_D8__T4test", "_D8__T4test"},
        {"_D4testFaQbZv", "test(char, char)"},
        {"_D4testFPQbZv", "_D4testFPQbZv"}, /* refers to itself */
        {"_D14__T4testS123aZv", "_D14__T4testS123aZv"},
        {"_Data", "_Data"},
    };
    (void)state;
    assert_read(names, sizeof names / sizeof *names);
}

static void names_of_swift_3_are_readable(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"_TFC4shop4Cart3addFT1xSi_T_", "Cart.add(x:)"},
        {"_TF4shop3sumurFGSax_x", "sum<A>(_:)"},
        {"_TF4shop4pairu0_rFTxq__T_", "pair<A, B>(_:_:)"},
        {"_TF4shop3mapuRxs8Sequencewx7Elements8HashablerFxGSax_", "map<A>(_:)"},
        {"_TFesRxs8Sequencewx8Iterators8HashablerS_9summarizefT_Si", "Sequence.summarize()"},
        {"_TTSg5Si___TFSqcfT_GSqx_", "specialized Optional.init()"},
        {"_TTSg5SiSis3Foos_Sf___TFSqcfT_GSqx_", "specialized Optional.init()"},
        {"_TTSr5Si___TF4test7genericurFxx", "specialized generic<A>(_:)"},
        {"_TTSf4gs_d_n___TTSg5Si___TF4shop4sameurFxx", "specialized same<A>(_:)"},
        {"_TIvV4shop4Cart1aSii", "variable initialization expression of Cart.a"},
        {"_TIFC4shop4Cart3addFT1xSi_T_A_", "default argument 0 of Cart.add(x:)"},
        {"_TFC4shop4Cartau5indexSi", "Cart.index.unsafeMutableAddressor"},
        {"_TFC4shop4Cartlo5indexSi", "Cart.index.nativeOwningAddressor"},
        {"_TF4shop3sumuR", "_TF4shop3sumuR"},
        {"_TF4shop3sumuz_rF", "_TF4shop3sumuz_rF"},
        {"_TTSg5Si__", "_TTSg5Si__"},
        {"_TTSf4cl35_", "_TTSf4cl35_"},
    };
    assert_read(names, sizeof names / sizeof *names);
}

static void names_of_apple_languages_are_readable(void **state)
{
    static const char *const names[][2] = {
        {"-[CRLCrashObjCException crash]", "-[CRLCrashObjCException crash]"},
        {"+[Cart(Saving) cartWithItems:count:]", "+[Cart(Saving) cartWithItems:count:]"},
        {"__41-[Cart(Saving) saveWithCompletion:retry:]_block_invoke",
         "block in -[Cart(Saving) saveWithCompletion:retry:]"},
        {"__20-[Cart saveWithKey:]_block_invoke_2", "block in -[Cart saveWithKey:]"},
        {"__20-[Cart saveWithKey:]_block_invoke.cold.1", "block in -[Cart saveWithKey:]"},
        {"__main_block_invoke", "block in main"},
        {"___ZN4shop4Cart4saveEv_block_invoke", "block in shop::Cart::save()"},
        {"__$s4shop4CartC3add5countySi_tF_block_invoke", "block in Cart.add(count:)"},
        {"_block_invoke", "_block_invoke"},
        {"__41_block_invoke", "__41_block_invoke"},
        {"__main_block_invoked", "__main_block_invoked"},
        {"$s4shop4CartC3add5countySi_tFyycfU_", "closure #1 in Cart.add(count:)"},
        {"$s4shop4CartC3add5countySi_tFyycf", "$s4shop4CartC3add5countySi_tFyycf"},
    };
    char out[512];
    (void)state;
    assert_read(names, sizeof names / sizeof *names);
    for (size_t room = 1; room < 40; room++)
        assert_true(symbol_demangle(out, room, "__20-[Cart saveWithKey:]_block_invoke_2") < room);
}

/* Names from rustc 1.95, compared with binutils' c++filt, without hashes and the types of constants. */
static void rust_names_of_version_0_are_demangled(void **state)
{
    static const char *const names[][2] = {
        {"_RNvCs6xxl1lAjzDf_1a4main", "a::main"},
        {"_RNvMs0_NtCs6xxl1lAjzDf_1a4shopINtB5_3NegKln5_E3getB7_", "<a::shop::Neg<-5>>::get"},
        {"_RINvCs6xxl1lAjzDf_1a3genTaReAtj2_ENCNvB2_4mains1_0EB2_",
         "a::gen::<(i8, &str, [u16; 2]), a::main::{closure#3}>"},
        {"_RNvMs_NtCs6xxl1lAjzDf_1a4shopINtB4_3ArrKj4_Kb1_Kc78_E3runB6_", "<a::shop::Arr<4, true, 'x'>>::run"},
        {"_RNvMs_NtCs6xxl1lAjzDf_1a4shopINtB4_3ArrKj0_Kb0_Kce9_E3runB6_", "<a::shop::Arr<0, false, '\\u{e9}'>>::run"},
        {"_RNSNvYNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15spawn_uncheckedNCNvCs6xxl1lAjzDf_1a4mains_0uEs_"
         "0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableB17_",
         "<std::thread::lifecycle::spawn_unchecked<a::main::{closure#1}, ()>::{closure#1} as"
         " core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}"},
        {"_RINvC1a2fpFUKCPhOsEuE", "a::fp::<unsafe extern \"C\" fn(*const u8, *mut i16)>"},
        {"_RINvC1a2fpDNtNtC4core3fmt5DebugNtNtC4core6marker4SendEL_E",
         "a::fp::<dyn core::fmt::Debug + core::marker::Send>"},
        {"_RINvC1a2fpDINtC1a8IteratorhEp4ItemTyEEL_E", "a::fp::<dyn a::Iterator<u8, Item = (u64,)>>"},
        {"_RINvC1a2fpDG_INtC1a2FnRL0_hEEL_E", "a::fp::<dyn for<'a> a::Fn<&'a u8>>"},
        {"_RINvC1a2fpSQRhE", "a::fp::<[&mut &u8]>"},
        {"_RNvNtNtCs6xxl1lAjzDf_1au8dj_kia8au7gfs105bu9gre_6ka8i", "a::d\u00e9j\u00e0::\u6a21\u5757::gr\u00f6\u00dfe"},
        {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
         "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
         "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_"
         "\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"},
        {"_RNvC1au1K", "a::punycode{K}"}, /* no letter */
    };
    char out[512];
    (void)state;
    assert_read(names, sizeof names / sizeof *names);
    symbol_demangle(out, sizeof out, "_RNvC1a4main.llvm.18088968993357556268");
    assert_string_equal(out, "a::main");
    assert_int_equal(symbol_demangle(out, 5, "_RNvC1a4main"), 4);
    assert_string_equal(out, "a::m");
}

static void rust_names_that_break_the_grammar_stay_as_they_are(void **state)
{
    static const char *const names[] = {"_R",
                                        "_RN",
                                        "_RNvC1a4mai",
                                        "_RNvB_1a",
                                        "_RNvC1a99999999999999999999a",
                                        "_RINvC1a1bB",
                                        "_RINvC1a1b",
                                        "_RINvC1a1bK",
                                        "_RNvBzzzzzzzzzzzzz_1a",
                                        "_RegisterThing"};
    char out[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        symbol_demangle(out, sizeof out, names[i]);
        assert_string_equal(out, names[i]);
    }
}

/* Tuples that contain the previous one twice: sixty of them would be written for ever. */
static void rust_names_that_stand_for_endless_text_are_cut(void **state)
{
    char name[2048] = "_RINvC1a1bTllE";
    char out[256];
    (void)state;
    for (size_t before = 8, i = 0; i < 60; i++) {
        static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t len = strlen(name), to = before - 1;
        char reference[8] = {digits[to / 62 % 62], digits[to % 62]};
        const char *shown = to < 62 ? reference + 1 : reference;
        before = len - 2;
        snprintf(name + len, sizeof name - len, "TB%s_B%s_E", shown, shown);
    }
    strcat(name, "E");
    assert_int_equal(symbol_demangle(out, sizeof out, name), sizeof out - 1);
    assert_int_equal(strncmp(out, "a::b::<(i32, i32), ((i32, i32), (i32, i32)), ", 44), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(names_that_stand_for_gigabytes_are_cut_or_left),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(names_that_take_long_do_so_together),
#endif
        cmocka_unit_test(names_of_d_are_readable),
        cmocka_unit_test(names_of_apple_languages_are_readable),
        cmocka_unit_test(names_of_swift_3_are_readable),
        cmocka_unit_test(rust_names_of_version_0_are_demangled),
        cmocka_unit_test(rust_names_that_break_the_grammar_stay_as_they_are),
        cmocka_unit_test(rust_names_that_stand_for_endless_text_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
