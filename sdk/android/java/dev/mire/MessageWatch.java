package dev.mire;

import android.os.Looper;
import android.util.Printer;
import java.lang.reflect.Field;

/**
 * Knows which message the looper is handling, by the lines that Looper prints. A looper has room for one printer: the
 * app's own goes on to get every line.
 *
 * Cost: Looper makes two short strings for each message.
 * Thread: println the looper's; the others any.
 */
final class MessageWatch implements Printer {
    private final Looper looper;
    private volatile Printer app;
    /** The line before the message that is being handled; null between messages. */
    private volatile String line;
    /** The lines that the looper has printed, a sign of life that wakes nobody. */
    private volatile int lines;

    MessageWatch(Looper looper) {
        this.looper = looper;
    }

    /** Listen, unless we do already: the app may have set a printer since. False: its printer cannot be found. */
    boolean install() {
        try {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            Printer now = (Printer) field.get(looper);
            if (now == this)
                return true;
            app = now;
            looper.setMessageLogging(this);
            return true;
        } catch (Exception | LinkageError e) {
            return false; /* then the app's printer, if it has one, stays */
        }
    }

    void remove() {
        try {
            Field field = Looper.class.getDeclaredField("mLogging");
            field.setAccessible(true);
            if (field.get(looper) == this)
                looper.setMessageLogging(app);
        } catch (Exception | LinkageError e) {
            /* it was never installed */
        }
    }

    @Override
    public void println(String text) {
        Printer other = app;
        boolean begins = !text.isEmpty() && text.charAt(0) == '>';
        if (begins)
            line = text;
        lines++;
        if (other != null && other != this)
            other.println(text); /* within the message, so that a slow printer is a part of it */
        if (!begins)
            line = null;
    }

    /** The message that is being handled; "" between messages. */
    String now() {
        String text = line;
        return text == null ? "" : TurnName.ofPrinted(text);
    }

    int lines() {
        return lines;
    }
}
