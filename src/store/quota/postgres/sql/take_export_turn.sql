-- Caller: UsageExport::take_turn. Index: gateway_export_pkey. Locks: the row. $4 null = database clock.
-- Answers nothing when another node has the turn.
INSERT INTO penstock.gateway_export AS e (name, node, until_us, done_to_us)
SELECT $1::text, $2::text, coalesce($4::bigint, penstock.epoch_us()) + $3::bigint, NULL
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, until_us = excluded.until_us
 WHERE e.node = excluded.node OR e.until_us <= excluded.until_us - $3::bigint
RETURNING e.done_to_us
