-- 0006: why the process of a report ended.

ALTER TABLE hang
    ADD COLUMN exit     text,
    ADD COLUMN exit_ppm integer;
COMMENT ON COLUMN hang.exit IS 'Verdict on the end of its process: watchdog_kill, foom, crash and so on; null if it lived when the report was made, or nobody knows.';
COMMENT ON COLUMN hang.exit_ppm IS 'How likely that verdict is, in millionths; null with it.';
