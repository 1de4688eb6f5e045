-- Caller: QueueStore::claim. Index and locks: see the functions. $7 null = database
-- clock, $8 null = from the start. The last column is the number of items that were asked for, once
-- their bytes were looked at.
WITH fit AS MATERIALIZED (
  SELECT penstock.claim_fit($1::text, $2::bigint, $3::integer, $4::bigint, $5::bigint, $6::integer,
                            $7::bigint, $8::bigint, $9::text, $10::bigint) AS items)
SELECT c.*, f.items
  FROM fit f
 CROSS JOIN LATERAL penstock.claim_items($1::text, $2::bigint, f.items, $4::bigint, $5::bigint,
                                         $6::integer, $7::bigint, $8::bigint, $9::text) c
