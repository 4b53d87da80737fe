-- 0012: losses: what devices could not send, by their own count.

CREATE TABLE loss_day (
    slot       smallint NOT NULL,
    day        date     NOT NULL,
    app_id     integer  NOT NULL,
    version_id bigint   NOT NULL,
    reason     text     NOT NULL,
    lost       bigint   NOT NULL,
    CONSTRAINT loss_day_is_counted_once PRIMARY KEY (slot, day, app_id, version_id, reason),
    CONSTRAINT loss_day_counts_up CHECK (lost >= 0)
);
COMMENT ON TABLE loss_day IS 'Records that devices lost or held back, as the reports and session records of a day tell. Derived; summed over slots.';
COMMENT ON COLUMN loss_day.slot IS 'Slot of the report that tells.';
COMMENT ON COLUMN loss_day.day IS 'Day that report was received, UTC.';
COMMENT ON COLUMN loss_day.app_id IS 'App of the report.';
COMMENT ON COLUMN loss_day.version_id IS 'Version that tells; an older one may have lost it.';
COMMENT ON COLUMN loss_day.reason IS 'Why, in the device''s words: full, age, write, refused, broken, big, short, annealed, daily, format, consent, filtered; other for any else.';
COMMENT ON COLUMN loss_day.lost IS 'How many records; not weighted.';
COMMENT ON INDEX loss_day_is_counted_once IS 'Serves: adding, and sums of an app by reason over days.';
