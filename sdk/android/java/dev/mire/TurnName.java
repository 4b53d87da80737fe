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

    /** "com.example.Cart$1@5e6f" and R8's "a.b.-$$Lambda$c$XyZ@12" lose what is behind the @. */
    private static String withoutHash(String object) {
        int at = object.indexOf('@');
        return at < 0 ? object : object.substring(0, at);
    }
}
