-- 0017: files of dwz, which the DWARF of several modules refers to, are lacking like modules.

COMMENT ON TABLE image IS 'Modules that reports have frames in and that there was no debug file for, and files of dwz that their DWARF refers to and that were not there, or were damaged. Reference table.';
COMMENT ON COLUMN image.name IS 'Base name of the module, as the first report had it; of a file of dwz as the DWARF has it.';
COMMENT ON COLUMN image.flaw IS 'Which parts of the files that are there are damaged, and which files that they refer to (split ones, of dwz) are missing, as it was when a report last lacked it; for people. Empty: nothing is there, or its names only.';
