/*
 * standard.c - reads types with a mangling of their own: the standard library's and the compiler's.
 */
#include "demangle/swift/read.h"

#include <stdio.h>
#include <string.h>

struct standard {
    char letter;
    enum swift_kind kind;
    const char *name;
};

static const struct standard first_set[] = {
    {'A', SWIFT_STRUCTURE, "AutoreleasingUnsafeMutablePointer"},
    {'a', SWIFT_STRUCTURE, "Array"},
    {'B', SWIFT_PROTOCOL, "BinaryFloatingPoint"},
    {'b', SWIFT_STRUCTURE, "Bool"},
    {'D', SWIFT_STRUCTURE, "Dictionary"},
    {'d', SWIFT_STRUCTURE, "Double"},
    {'E', SWIFT_PROTOCOL, "Encodable"},
    {'e', SWIFT_PROTOCOL, "Decodable"},
    {'F', SWIFT_PROTOCOL, "FloatingPoint"},
    {'f', SWIFT_STRUCTURE, "Float"},
    {'G', SWIFT_PROTOCOL, "RandomNumberGenerator"},
    {'H', SWIFT_PROTOCOL, "Hashable"},
    {'h', SWIFT_STRUCTURE, "Set"},
    {'I', SWIFT_STRUCTURE, "DefaultIndices"},
    {'i', SWIFT_STRUCTURE, "Int"},
    {'J', SWIFT_STRUCTURE, "Character"},
    {'j', SWIFT_PROTOCOL, "Numeric"},
    {'K', SWIFT_PROTOCOL, "BidirectionalCollection"},
    {'k', SWIFT_PROTOCOL, "RandomAccessCollection"},
    {'L', SWIFT_PROTOCOL, "Comparable"},
    {'l', SWIFT_PROTOCOL, "Collection"},
    {'M', SWIFT_PROTOCOL, "MutableCollection"},
    {'m', SWIFT_PROTOCOL, "RangeReplaceableCollection"},
    {'N', SWIFT_STRUCTURE, "ClosedRange"},
    {'n', SWIFT_STRUCTURE, "Range"},
    {'O', SWIFT_STRUCTURE, "ObjectIdentifier"},
    {'P', SWIFT_STRUCTURE, "UnsafePointer"},
    {'p', SWIFT_STRUCTURE, "UnsafeMutablePointer"},
    {'Q', SWIFT_PROTOCOL, "Equatable"},
    {'q', SWIFT_ENUM, "Optional"},
    {'R', SWIFT_STRUCTURE, "UnsafeBufferPointer"},
    {'r', SWIFT_STRUCTURE, "UnsafeMutableBufferPointer"},
    {'S', SWIFT_STRUCTURE, "String"},
    {'s', SWIFT_STRUCTURE, "Substring"},
    {'T', SWIFT_PROTOCOL, "Sequence"},
    {'t', SWIFT_PROTOCOL, "IteratorProtocol"},
    {'U', SWIFT_PROTOCOL, "UnsignedInteger"},
    {'u', SWIFT_STRUCTURE, "UInt"},
    {'V', SWIFT_STRUCTURE, "UnsafeRawPointer"},
    {'v', SWIFT_STRUCTURE, "UnsafeMutableRawPointer"},
    {'W', SWIFT_STRUCTURE, "UnsafeRawBufferPointer"},
    {'w', SWIFT_STRUCTURE, "UnsafeMutableRawBufferPointer"},
    {'X', SWIFT_PROTOCOL, "RangeExpression"},
    {'x', SWIFT_PROTOCOL, "Strideable"},
    {'Y', SWIFT_PROTOCOL, "RawRepresentable"},
    {'y', SWIFT_PROTOCOL, "StringProtocol"},
    {'Z', SWIFT_PROTOCOL, "SignedInteger"},
    {'z', SWIFT_PROTOCOL, "BinaryInteger"},
    {0},
};

static const struct standard second_set[] = {
    {'A', SWIFT_PROTOCOL, "Actor"},
    {'C', SWIFT_STRUCTURE, "CheckedContinuation"},
    {'c', SWIFT_STRUCTURE, "UnsafeContinuation"},
    {'E', SWIFT_STRUCTURE, "CancellationError"},
    {'e', SWIFT_STRUCTURE, "UnownedSerialExecutor"},
    {'F', SWIFT_PROTOCOL, "Executor"},
    {'f', SWIFT_PROTOCOL, "SerialExecutor"},
    {'G', SWIFT_STRUCTURE, "TaskGroup"},
    {'g', SWIFT_STRUCTURE, "ThrowingTaskGroup"},
    {'h', SWIFT_PROTOCOL, "TaskExecutor"},
    {'I', SWIFT_PROTOCOL, "AsyncIteratorProtocol"},
    {'i', SWIFT_PROTOCOL, "AsyncSequence"},
    {'J', SWIFT_STRUCTURE, "UnownedJob"},
    {'M', SWIFT_CLASS, "MainActor"},
    {'P', SWIFT_STRUCTURE, "TaskPriority"},
    {'S', SWIFT_STRUCTURE, "AsyncStream"},
    {'s', SWIFT_STRUCTURE, "AsyncThrowingStream"},
    {'T', SWIFT_STRUCTURE, "Task"},
    {'t', SWIFT_STRUCTURE, "UnsafeCurrentTask"},
    {0},
};

struct swift_node *swift_swift_type(struct swift *s, enum swift_kind kind, const char *name)
{
    return swift_type(s,
                      swift_of_2(s, kind, swift_word(s, SWIFT_MODULE, "Swift"), swift_word(s, SWIFT_IDENTIFIER, name)));
}

struct swift_node *swift_standard_type(struct swift *s, bool second)
{
    char letter = swift_next(s);
    for (const struct standard *row = second ? second_set : first_set; row->letter; row++)
        if (row->letter == letter)
            return swift_swift_type(s, row->kind, row->name);
    return NULL;
}

static const struct {
    char letter;
    const char *name;
} builtins[] = {
    {'A', "Builtin.ImplicitActor"},
    {'B', "Builtin.UnsafeValueBuffer"},
    {'b', "Builtin.BridgeObject"},
    {'c', "Builtin.RawUnsafeContinuation"},
    {'D', "Builtin.DefaultActorStorage"},
    {'d', "Builtin.NonDefaultDistributedActorStorage"},
    {'e', "Builtin.Executor"},
    {'I', "Builtin.IntLiteral"},
    {'j', "Builtin.Job"},
    {'O', "Builtin.UnknownObject"},
    {'o', "Builtin.NativeObject"},
    {'P', "Builtin.PackIndex"},
    {'p', "Builtin.RawPointer"},
    {'t', "Builtin.SILToken"},
    {'w', "Builtin.Word"},
};

#define WIDTH_MAX 4096 /* bits of a number, elements of a vector */

static struct swift_node *of_width(struct swift *s, const char *name)
{
    int width = swift_index(s) - 1;
    char *text = width > 0 && width <= WIDTH_MAX ? arena_printf(&s->arena, "Builtin.%s%d", name, width) : NULL;
    return text ? swift_type(s, swift_word(s, SWIFT_BUILTIN, text)) : NULL;
}

static struct swift_node *vector(struct swift *s)
{
    int count = swift_index(s) - 1;
    struct swift_node *element = swift_pop_inside(s);
    if (count <= 0 || count > WIDTH_MAX || !element || element->kind != SWIFT_BUILTIN || element->len < 8)
        return NULL;
    char *text = arena_printf(&s->arena, "Builtin.Vec%dx%.*s", count, (int)element->len - 8, element->text + 8);
    return text ? swift_type(s, swift_word(s, SWIFT_BUILTIN, text)) : NULL;
}

static struct swift_node *fixed_array(struct swift *s)
{
    struct swift_node *element = swift_pop(s, SWIFT_TYPE);
    struct swift_node *count = swift_pop(s, SWIFT_TYPE);
    struct swift_node *parts[] = {swift_text(s, "Builtin.FixedArray<"), count, swift_text(s, ", "), element,
                                  swift_text(s, ">")};
    return swift_type(s, swift_joined(s, parts, sizeof parts / sizeof *parts));
}

struct swift_node *swift_builtin(struct swift *s)
{
    char letter = swift_next(s);
    switch (letter) {
    case 'f':
        return of_width(s, "FPIEEE");
    case 'i':
        return of_width(s, "Int");
    case 'v':
        return vector(s);
    case 'V':
        return fixed_array(s);
    default:
        for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
            if (builtins[i].letter == letter)
                return swift_type(s, swift_word(s, SWIFT_BUILTIN, builtins[i].name));
        return NULL;
    }
}
