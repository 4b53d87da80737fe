package dev.mire;

/**
 * What a looper does now, in words without what a process counts (hashes, numbers of instances), so that two devices say
 * the same of the same code.
 */
final class TurnName {
    private TurnName() {
    }

    /**
     * Of the line that Looper prints before a message:
     * ">>>>> Dispatching to Handler (android.view.Choreographer$FrameHandler) {3f2a1b} null: 0".
     * Returns "android.view.Choreographer$FrameHandler, what 0", or with the callback's class in the middle.
     */
    static String ofPrinted(String line) {
        int open = line.indexOf('(');
        int close = line.indexOf(')', open + 1);
        int brace = line.indexOf("} ", close + 1);
        int colon = line.lastIndexOf(": ");
        if (open < 0 || close < 0 || brace < 0 || colon <= brace)
            return "";
        String callback = withoutHash(line.substring(brace + 2, colon));
        String handler = line.substring(open + 1, close);
        String what = line.substring(colon + 2);
        return handler + (callback.equals("null") ? ", what " + what : ", " + callback);
    }

    /** Of a stack: an idle handler or an input event, which Looper does not print. "" if it is neither. */
    static String ofStack(StackTraceElement[] stack) {
        for (int i = 0; i < stack.length; i++) {
            String of = stack[i].getClassName();
            String method = stack[i].getMethodName();
            if (of.equals("android.view.InputEventReceiver") && method.startsWith("dispatchInputEvent"))
                return "input";
            if (method.equals("queueIdle") && i + 1 < stack.length
                    && stack[i + 1].getClassName().startsWith("android.os.MessageQueue"))
                return "idle handler " + of;
        }
        return "";
    }

    /** Loops within each other. */
    static int loopsOf(StackTraceElement[] stack) {
        int loops = 0;
        for (StackTraceElement frame : stack)
            if (frame.getMethodName().equals("loop") && frame.getClassName().equals("android.os.Looper"))
                loops++;
        return loops;
    }

    /**
     * "com.example.Cart$1@5e6f" loses what is behind the @. The class of a lambda has a number that a compiler or the
     * process counted: "a.Cart$$Lambda$14/0x7f@1", "a.Cart$$ExternalSyntheticLambda3@1" and "a.-$$Lambda$Cart$XyZ@1" become
     * "a.Cart lambda".
     */
    private static String withoutHash(String object) {
        int at = object.indexOf('@');
        String name = at < 0 ? object : object.substring(0, at);
        int lambda = name.indexOf("$$");
        if (lambda < 0)
            return name;
        if (lambda > 0 && name.charAt(lambda - 1) == '-') {
            int outer = name.indexOf('$', lambda + 2) + 1, end = name.lastIndexOf('$');
            return outer > 0 && end > outer ? name.substring(0, lambda - 1) + name.substring(outer, end) + " lambda" : name;
        }
        return name.substring(0, lambda) + " lambda";
    }
}
