-- The devices of every issue that matches a view: their identifiers, one after the other in one text.
--   $1 to $5   the view (rows/view_sql.h)
--   $6 $7      kinds wanted, and not      $8 $9   states wanted, and not     $10  words
--   $11        the issues                 $12     the first identifier left out
--   $13        the issues whose reports may be shown as one of these
-- Trees are told apart only where some were split off: the index has none.
WITH h AS (
    SELECT issue_id, {tree} AS tree, string_agg(install, '') AS installs, min(occurred_at) AS oldest, max(occurred_at) AS newest
    FROM event
    WHERE {event_in_view}{of_keys}{of_share}
    GROUP BY 1{by_tree}),
c AS (
    SELECT {shown_id} AS issue_id, string_agg(installs, '') AS installs, min(oldest) AS oldest, max(newest) AS newest
    FROM h {shown_join}
    GROUP BY 1)
SELECT c.issue_id, c.installs, c.oldest, c.newest, {key}
FROM c JOIN issue i USING (issue_id) {wholes}
WHERE {kind_wanted} AND {state_wanted} AND {has_words}{of_issues}
