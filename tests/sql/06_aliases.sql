-- What is merged and split: an issue or a tree of it is shown in one place, whatever is undone is kept, and lists find both ends.
BEGIN;
SELECT pg_temp.plan(16);

CREATE FUNCTION pg_temp.alias(kind text, issue bigint, tree integer, into_id bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO issue_alias (app_id, kind, issue_id, tree, into_id, act_id, author, reason)
    VALUES (1, kind, issue, tree, into_id, 1, 'kim', 'because')
$$;

SELECT pg_temp.alias('merge', 2, 0, 1);
SELECT pg_temp.refused('issue_alias_holds_once', $$SELECT pg_temp.alias('merge', 2, 0, 3)$$);
SELECT pg_temp.refused('issue_alias_leads_elsewhere', $$SELECT pg_temp.alias('merge', 4, 0, 4)$$);
SELECT pg_temp.refused('issue_alias_has_a_known_kind', $$SELECT pg_temp.alias('hide', 4, 0, 1)$$);
SELECT pg_temp.refused('issue_alias_of_a_split_names_a_tree', $$SELECT pg_temp.alias('split', 4, 0, 1)$$);
SELECT pg_temp.refused('issue_alias_of_a_split_names_a_tree', $$SELECT pg_temp.alias('merge', 4, 7, 1)$$);
SELECT pg_temp.refused('issue_alias_is_undone_by_somebody', 'UPDATE issue_alias SET undone_at = now()');
SELECT pg_temp.alias('split', 2, 7, 9), pg_temp.alias('split', 2, -7, 9);
SELECT pg_temp.ok('trees of a merged issue are split off beside it', (SELECT count(*) = 3 FROM issue_alias WHERE undone_at IS NULL));

UPDATE issue_alias SET undone_at = now(), undone_by = 'lee' WHERE kind = 'merge';
SELECT pg_temp.alias('merge', 2, 0, 3);
SELECT pg_temp.ok('what is undone can be made anew, and stays in the log', (SELECT count(*) = 2 FROM issue_alias WHERE kind = 'merge'));

INSERT INTO issue_shown SELECT 1, g, 0, g % 10 FROM generate_series(100, 999) g;
SELECT pg_temp.refused('issue_shown_in_one_place', 'INSERT INTO issue_shown VALUES (1, 100, 0, 7)');
INSERT INTO issue_shown VALUES (1, 100, 7, 7), (2, 100, 0, 7);
SELECT pg_temp.ok('a tree may be shown elsewhere than its issue, and numbers are of an app', (SELECT count(*) = 902 FROM issue_shown));

INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1)
SELECT 1, g / 32 + 1, g % 32 + 1, now(), 'app' || chr(9) || 'f' || chr(9) || 'm', 0 FROM generate_series(0, 999) g;
SELECT pg_temp.refused('issue_tree_is_a_tree',
    $$INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1) VALUES (1, 1, 0, now(), '', 0)$$);
SELECT pg_temp.refused('issue_tree_is_kept_once',
    $$INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1) VALUES (1, 1, 1, now(), '', 0)$$);
SELECT pg_temp.ok('trees say which transaction wrote them', (SELECT bool_and(added = pg_current_xact_id()) FROM issue_tree));
SELECT pg_temp.ok('trees are numbered in order', (SELECT count(DISTINCT tree_id) = 1000 AND min(tree_id) > 0 FROM issue_tree));

CREATE TEMP TABLE plan_lines (line text);
DO $$
DECLARE line text;
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR line IN EXPLAIN SELECT issue_id, tree FROM issue_shown WHERE shown_id = 3 LOOP INSERT INTO plan_lines VALUES (line); END LOOP;
    FOR line IN EXPLAIN SELECT frames FROM issue_tree WHERE app_id = 1 AND added >= '3'::xid8 LOOP INSERT INTO plan_lines VALUES (line); END LOOP;
    FOR line IN EXPLAIN SELECT frames FROM issue_tree WHERE tree_id = ANY ('{1,2}') LOOP INSERT INTO plan_lines VALUES (line); END LOOP;
END $$;
SELECT pg_temp.ok('what an issue stands for, and new trees, are found without reading the others',
    (SELECT NOT bool_or(line LIKE '%Seq Scan%') FROM plan_lines));
SELECT pg_temp.ok('by the indexes made for it', (SELECT count(*) >= 3 FROM plan_lines
    WHERE line ~ 'issue_shown_by_head|issue_tree_by_age|issue_tree_is_identified_by_its_number'));

SELECT pg_temp.done();
ROLLBACK;
