-- What sql.sh asks: one row per rule broken. A table whose comment ends in "Reference table." is small and read everywhere;
-- every other one is spread by slot. Partitions are made by the server and follow their parent.
WITH tables AS (
    SELECT c.oid, c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
           coalesce(obj_description(c.oid, 'pg_class') ~ 'Reference table\.$', false) AS is_reference
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
), columns AS (
    SELECT t.*, a.attname, a.attnum FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped
), indexes AS (
    SELECT t.name, t.is_reference, i.indexrelid, i.indisprimary, i.indisunique, ic.relname AS index_name,
           (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = i.indkey[0]) AS leads,
           EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = ANY (i.indkey) AND a.attname = 'slot') AS has_slot
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class ic ON ic.oid = i.indexrelid
)
SELECT 'table ' || name || ' has no COMMENT' FROM tables WHERE coalesce(comment, '') = ''
UNION ALL
SELECT 'column ' || name || '.' || attname || ' has no COMMENT' FROM columns WHERE coalesce(col_description(oid, attnum), '') = ''
UNION ALL
SELECT 'index ' || index_name || ' has no COMMENT' FROM indexes WHERE coalesce(obj_description(indexrelid, 'pg_class'), '') = ''
UNION ALL
SELECT 'table ' || name || ' has no primary key' FROM tables t
WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary)
UNION ALL
SELECT 'table ' || name || ' is no reference table, and its primary key does not lead with slot'
FROM indexes WHERE indisprimary AND NOT is_reference AND leads IS DISTINCT FROM 'slot'
UNION ALL
SELECT 'unique index ' || index_name || ' of ' || name || ' lacks slot: it cannot hold on more than one machine'
FROM indexes WHERE indisunique AND NOT is_reference AND NOT has_slot
UNION ALL
SELECT 'constraint ' || conname || ' of ' || t.name || ' has a made-up name' FROM pg_constraint c JOIN tables t ON t.oid = c.conrelid
WHERE conname ~ ('^' || t.name || '_(.*_)?(pkey|key|check|excl|fkey)[0-9]*$')
UNION ALL
SELECT 'foreign key ' || conname || ' of ' || t.name FROM pg_constraint c JOIN tables t ON t.oid = c.conrelid WHERE c.contype = 'f'
UNION ALL
SELECT 'trigger ' || tgname || ' on ' || tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
ORDER BY 1;
