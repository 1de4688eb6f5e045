-- Caller: LeaseStore::view. Index: dispatch_type_name, dispatch_lease_pkey. Locks: none.
-- $2 null = database clock. A null node: nobody has it now.
SELECT CASE WHEN l.node <> '' AND l.until_us > coalesce($2::bigint, penstock.epoch_us())
            THEN l.node END,
       l.paused_until_us
  FROM penstock.dispatch_type t JOIN penstock.dispatch_lease l ON l.type_id = t.type_id
 WHERE t.name = $1::text
