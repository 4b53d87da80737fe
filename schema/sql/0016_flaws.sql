-- 0016: what is wrong with the files there are of an image that reports lack all the same.

ALTER TABLE image ADD COLUMN flaw text NOT NULL DEFAULT '';
COMMENT ON COLUMN image.flaw IS 'Which parts of the files that are there are damaged, and which split files are missing, as it was when a report last lacked it; for people. Empty: nothing is there, or its names only.';
COMMENT ON TABLE split_wanted IS 'Split files (.dwo, .dwp) that debug files refer to and that were not there, or were damaged. Reference table.';
