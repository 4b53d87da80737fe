-- 0019: a session without a loop has no hangs to be watched for: rates of hangs are divided by the others.

ALTER TABLE session ADD COLUMN loop boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN session.loop IS 'A thread of it was seen to wait for events.';
COMMENT ON TABLE session IS 'One row a session record: a run of a program with all its processes, or a day of a longer one. Derived; one partition a day.';
COMMENT ON COLUMN session_day.watched IS 'Sessions that those with a loop and the hang plugin stand for: sum of 1 / (share of session x share of hang). This and all that follows is of those.';
COMMENT ON TABLE session_end_day IS 'How sessions ended, as records told in one day, by version, channel and set of plugins.';
