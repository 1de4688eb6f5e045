-- Caller: functions of this schema. Index: none (one row). Locks: none. Where a search for reservations begins. A floor from another
-- server, whose transactions had higher numbers, does not count.
CREATE FUNCTION reservations_from() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT f.below FROM penstock.slot_reservation_floor f
                    WHERE f.below <= pg_snapshot_xmin(pg_current_snapshot())), '0')
$$;
