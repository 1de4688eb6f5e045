-- Caller: ItemTypeStore::put, behind lock_settings in one transaction. Index: dispatch_settings_pkey.
-- Locks: the new row. $2 is the version that the settings were made from: nothing is written when
-- there is another by now. $3 null = database clock. Answers when it changed.
INSERT INTO penstock.dispatch_settings
  (item_type, version, changed_us, enabled, batch_size, dispatch_interval_s, jitter_window_ms,
   pre_start_buffer_min, max_dispatch_retries, stale_claim_threshold_min, max_per_second, burst,
   retry_backoff_ms, retry_backoff_max_ms, max_pause_s, sink_type, sink_url, sink_secrets,
   sink_timeout_ms, sink_concurrency, sink_workflow_type, sink_task_queue, sink_topic, smpp_host,
   smpp_port, smpp_system_id, smpp_password, smpp_system_type, smpp_source, smpp_source_ton,
   smpp_source_npi, smpp_receipts, sink_options, smpp_receipt_ids)
SELECT $1::text, $2::bigint + 1, coalesce($3::bigint, penstock.epoch_us()), $4::boolean, $5::bigint,
       $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint,
       $13::bigint, $14::bigint, $15::bigint, $16::text, $17::text, $18::text[], $19::bigint,
       $20::bigint, $21::text, $22::text, $23::text, $24::text, $25::bigint, $26::text, $27::text,
       $28::text, $29::text, $30::bigint, $31::bigint, $32::boolean, $33::text,
       $34::bigint
 WHERE $2::bigint = coalesce((SELECT s.version FROM penstock.dispatch_settings s
                               WHERE s.item_type = $1::text ORDER BY s.version DESC LIMIT 1), 0)
RETURNING changed_us
