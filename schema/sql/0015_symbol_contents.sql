-- 0015: a debug file that is sent in place of one with other contents is another one.

ALTER TABLE symbol_file ADD COLUMN hash bytea;
ALTER TABLE symbol_file ADD CONSTRAINT symbol_file_hash_is_blake2b_256 CHECK (octet_length(hash) = 32);
COMMENT ON COLUMN symbol_file.hash IS 'BLAKE2b-256 of its contents: what is converted of it is known by that. Null of files that came before it was kept.';
COMMENT ON COLUMN lacking.had IS 'What was known of it: none: nothing; names: some of it, as functions without lines and inlined calls, or what can be read of a damaged file.';
COMMENT ON TABLE lacking IS 'Reports and the modules they have frames in that no debug file was found for, or none that is whole. Derived; one partition a day.';
