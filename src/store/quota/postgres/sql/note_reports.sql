-- Caller: DeliveryStore::note_reports. Index: sms_part_pkey. Locks: the rows, ascending, as the arrays are,
-- without duplicates. $5 null = database clock. Answers each row's name and whether it has a message.
INSERT INTO penstock.sms_part AS p (provider, reference, message_id, part, parts, state, state_us, detail,
                                    written_us)
SELECT n.provider, n.reference, '', 1, 1, n.state, t.now_us, n.detail, t.now_us
  FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[])
       AS n(provider, reference, state, detail),
       (SELECT coalesce($5::bigint, penstock.epoch_us()) AS now_us OFFSET 0) t
    ON CONFLICT (provider, reference) DO UPDATE
   SET state = CASE WHEN excluded.state >= 4 OR p.state < 4 THEN excluded.state ELSE p.state END,
       state_us = CASE WHEN excluded.state >= 4 OR p.state < 4 THEN excluded.state_us ELSE p.state_us END,
       detail = CASE WHEN excluded.state >= 4 OR p.state < 4 THEN excluded.detail ELSE p.detail END
RETURNING p.provider, p.reference, p.message_id <> ''
