-- 0003: events of a whole process beside hangs, what a report tells of others that were not sent, and turns by length.

ALTER TABLE hang
    ADD COLUMN foreground   boolean,
    ADD COLUMN launch       boolean NOT NULL DEFAULT false,
    ADD COLUMN thread_count bigint,
    ADD COLUMN annealed     bigint  NOT NULL DEFAULT 0,
    ADD COLUMN annealed_ms  bigint  NOT NULL DEFAULT 0,
    ADD COLUMN holder       text    NOT NULL DEFAULT '';
COMMENT ON TABLE hang IS 'One row a report: the facts of its hang, or of its event of the whole process, and the issue it belongs to. Derived; one partition a day.';
COMMENT ON COLUMN hang.duration_ms IS 'How long the thread was busy, or, of an event of the whole process, was watched, milliseconds.';
COMMENT ON COLUMN hang.foreground IS 'Whether the app was in the foreground; null if the device does not tell.';
COMMENT ON COLUMN hang.launch IS 'It began before the loop had waited for the first time.';
COMMENT ON COLUMN hang.thread_count IS 'Threads of the process; null if the device does not tell.';
COMMENT ON COLUMN hang.annealed IS 'Events like this one that the device counted and did not send since the last it sent.';
COMMENT ON COLUMN hang.annealed_ms IS 'How long those were together, milliseconds.';
COMMENT ON COLUMN hang.holder IS 'Who held the lock that the thread waited for: thread and function; empty if nobody is known.';
COMMENT ON COLUMN issue.category IS 'Kind of trouble: hang, launch, background, killed, threads, cpu, power, disk, frames, custom, test.';

-- A report stands for those that were annealed into it, and only what somebody waited for takes time.
COMMENT ON COLUMN version_hour.hangs IS 'Events they stand for: sum of weight x (1 + annealed).';
COMMENT ON COLUMN version_hour.hang_ms IS 'Time somebody waited in them, milliseconds: sum of weight x (duration + annealed_ms); of frames the longest one; of cpu, power, disk, custom and test nothing.';
COMMENT ON COLUMN version_hour.longest_ms IS 'Longest single wait, milliseconds.';
COMMENT ON COLUMN issue_hour.hangs IS 'Events they stand for, as in version_hour.';
COMMENT ON COLUMN issue_hour.hang_ms IS 'Time somebody waited in them, as in version_hour.';
COMMENT ON COLUMN issue_hour.longest_ms IS 'Longest single wait, milliseconds.';

CREATE TABLE turn_hour (
    slot       smallint         NOT NULL,
    hour       timestamptz      NOT NULL,
    app_id     integer          NOT NULL,
    version_id bigint           NOT NULL,
    from_ms    bigint           NOT NULL,
    turns      double precision NOT NULL,
    CONSTRAINT turn_hour_counts_once PRIMARY KEY (slot, hour, app_id, version_id, from_ms)
);
COMMENT ON TABLE turn_hour IS 'Turns of watched loops by their length, as reports told them in one hour: also those too short to be reported. Devices that never report are not in it.';
COMMENT ON COLUMN turn_hour.slot IS 'Slot the counted reports are on.';
COMMENT ON COLUMN turn_hour.hour IS 'Hour in which the reports were received (UTC, its beginning).';
COMMENT ON COLUMN turn_hour.app_id IS 'App.';
COMMENT ON COLUMN turn_hour.version_id IS 'Version.';
COMMENT ON COLUMN turn_hour.from_ms IS 'Turns of at least so many milliseconds, and shorter than the next row''s.';
COMMENT ON COLUMN turn_hour.turns IS 'Turns they stand for: sum of weight x count.';
COMMENT ON INDEX turn_hour_counts_once IS 'Serves: adding a report, and the lengths of turns of a time range.';
