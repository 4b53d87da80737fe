package android.app;

import android.content.ContextWrapper;
import java.util.ArrayList;
import java.util.List;

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

    @Override
    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int most) {
        return records;
    }

    @Override
    public void setProcessStateSummary(byte[] state) {
        summary = state;
    }
}
