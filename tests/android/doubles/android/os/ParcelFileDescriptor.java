package android.os;

import java.io.FileInputStream;
import java.io.IOException;

/** The framework's own needs Android's java.io.FileDescriptor; this is as much of it as reading a trace needs. */
public class ParcelFileDescriptor {
    private final FileInputStream file;

    public ParcelFileDescriptor(FileInputStream file) {
        this.file = file;
    }

    public static class AutoCloseInputStream extends FileInputStream {
        public AutoCloseInputStream(ParcelFileDescriptor of) throws IOException {
            super(of.file.getFD());
        }
    }
}
