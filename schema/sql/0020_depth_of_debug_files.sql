-- 0020: of two debug files with one build id the one that tells more is used.

ALTER TABLE symbol_file ADD COLUMN depth text NOT NULL DEFAULT '';
ALTER TABLE symbol_file ADD CONSTRAINT symbol_file_has_a_known_depth CHECK (depth IN ('', 'names', 'lines', 'dwarf'));
COMMENT ON COLUMN symbol_file.depth IS 'What it tells of the code: names: functions; lines: and lines (line tables, Breakpad, mappings); dwarf: and calls, types, variables. Empty: it was not looked at (fetched, or sent before this was kept), and counts as dwarf.';
