-- Caller: QueueStore::enqueue and redrive, behind the commit. Index: none. Locks: that of all NOTIFY, which
-- is held until the end of the commit: this one does not wait for the disk, and the batch before it
-- does not notify. $1 types, $2 when the first item of each is due, $3 how far ahead is worth
-- telling, $4 null = database clock. The payload is the type and the time.
SELECT pg_notify('penstock_item', a.name || ' ' || a.due_us),
       set_config('synchronous_commit', 'off', true)
  FROM unnest($1::text[], $2::bigint[]) AS a(name, due_us)
 WHERE a.due_us <= coalesce($4::bigint, penstock.epoch_us()) + $3::bigint
