-- Caller: QueueStore::summary, fold_counts. Index: dispatch_total_pkey. Locks: none. Where the changes
-- of a type begin that are not in its total. A total from another server, whose transactions had
-- higher numbers, does not count; then all rows that are left are looked at.
CREATE FUNCTION changes_from(of_type integer) RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT t.below FROM penstock.dispatch_total t
                    WHERE t.type_id = of_type
                      AND t.below <= pg_snapshot_xmin(pg_current_snapshot())), '0')
$$;
