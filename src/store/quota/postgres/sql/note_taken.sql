-- Caller: DeliveryStore::note_taken. Index: sms_part_pkey. Locks: the rows, ascending, as the arrays are,
-- without duplicates. $6 null = database clock.
INSERT INTO penstock.sms_part AS p (provider, reference, message_id, part, parts, state, state_us, detail,
                                    written_us)
SELECT n.provider, n.reference, n.message_id, n.part, n.parts, 0, 0, '', t.now_us
  FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::integer[])
       AS n(provider, reference, message_id, part, parts),
       (SELECT coalesce($6::bigint, penstock.epoch_us()) AS now_us OFFSET 0) t
    ON CONFLICT (provider, reference) DO UPDATE
   SET message_id = excluded.message_id, part = excluded.part, parts = excluded.parts,
       state = CASE WHEN p.message_id IN ('', excluded.message_id) THEN p.state ELSE 0 END,
       state_us = CASE WHEN p.message_id IN ('', excluded.message_id) THEN p.state_us ELSE 0 END,
       detail = CASE WHEN p.message_id IN ('', excluded.message_id) THEN p.detail ELSE '' END,
       written_us = CASE WHEN p.message_id IN ('', excluded.message_id) THEN p.written_us
                         ELSE excluded.written_us END
