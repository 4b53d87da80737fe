package android.app;

import android.content.ContextWrapper;
import android.os.IBinder;
import android.os.ParcelFileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A system that keeps one record of an ended process, and the state that this process leaves: the service's double.
 * From Android 11 on.
 */
public final class RecordedEnds extends ActivityManager {
    private final List<ApplicationExitInfo> records = new ArrayList<>();
    public byte[] summary;

    public RecordedEnds() {
        super(null, null);
    }

    /** "RUN REASON STATUS DESCRIPTION"; null: no record. */
    public static ContextWrapper context(String words) {
        final RecordedEnds system = new RecordedEnds();
        if (words != null) {
            String[] word = words.split(" ", 4);
            ApplicationExitInfo record = new ApplicationExitInfo();
            record.setProcessStateSummary(word[0].getBytes());
            record.setReason(Integer.parseInt(word[1]));
            record.setStatus(Integer.parseInt(word[2]));
            record.setDescription(word[3]);
            if (System.getProperty("mire.trace") != null)
                record.setAppTraceRetriever(new Traces(System.getProperty("mire.trace")));
            system.records.add(new ApplicationExitInfo()); /* of a process without Mire */
            system.records.add(record);
        }
        return new ContextWrapper(null) {
            @Override
            public Object getSystemService(String name) {
                return system;
            }
        };
    }

    /** A system that keeps a trace, in a gzip file. */
    private static final class Traces implements IAppTraceRetriever {
        private final String path;

        Traces(String path) {
            this.path = path;
        }

        @Override
        public ParcelFileDescriptor getTraceFileDescriptor(String packageName, int uid, int pid) {
            try {
                return new ParcelFileDescriptor(new FileInputStream(path));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public IBinder asBinder() {
            return null;
        }
    }

    @Override
    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int most) {
        return records;
    }

    /** Of Android 17 on, whose ProfilingManager wants to be told before an ANR. */
    public void registerAnrWarningListener(Executor executor, Consumer<?> listener) {
        System.out.println("warned true");
    }

    @Override
    public void setProcessStateSummary(byte[] state) {
        summary = state;
    }
}
