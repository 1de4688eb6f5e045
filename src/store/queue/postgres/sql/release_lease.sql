-- Caller: LeaseStore::release. Index: dispatch_type_name, dispatch_lease_pkey. Locks: the row.
UPDATE penstock.dispatch_lease l SET node = ''
 WHERE l.type_id = (SELECT t.type_id FROM penstock.dispatch_type t WHERE t.name = $1::text)
   AND l.node = $2::text
