package libcore.util;

/** Frees nothing: the framework's own needs natives, and from Android 16 on ART. Stands before it on the class path. */
public final class NativeAllocationRegistry {
    private static final NativeAllocationRegistry NONE = new NativeAllocationRegistry(null, 0, 0);

    public NativeAllocationRegistry(ClassLoader loader, long freeFunction, long size) {
    }

    public static NativeAllocationRegistry createNonmalloced(ClassLoader loader, long freeFunction, long size) {
        return NONE;
    }

    public static NativeAllocationRegistry createNonmalloced(Class<?> of, long freeFunction, long size) {
        return NONE;
    }

    public static NativeAllocationRegistry createMalloced(ClassLoader loader, long freeFunction, long size) {
        return NONE;
    }

    public static NativeAllocationRegistry createMalloced(ClassLoader loader, long freeFunction) {
        return NONE;
    }

    public static NativeAllocationRegistry createMalloced(Class<?> of, long freeFunction, long size) {
        return NONE;
    }

    public static NativeAllocationRegistry createMalloced(Class<?> of, long freeFunction) {
        return NONE;
    }

    public Runnable registerNativeAllocation(Object object, long address) {
        return () -> { };
    }
}
