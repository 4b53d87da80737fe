-- 0018: what of a file is damaged is kept beside it: whoever sends it again is told, and one of other contents is wanted.

ALTER TABLE symbol_file ADD COLUMN flaw text NOT NULL DEFAULT '';
COMMENT ON COLUMN symbol_file.flaw IS 'What of it is damaged, as it was told when it was sent; for people. Empty: nothing is, or it was not read whole then (fetched, or sent before this was kept).';
