-- Caller: ItemTypeStore::find and history. Index: dispatch_settings_pkey. Locks: none. Newest first.
SELECT s.item_type, s.version, s.changed_us, s.enabled, s.batch_size, s.dispatch_interval_s,
       s.jitter_window_ms, s.pre_start_buffer_min, s.max_dispatch_retries,
       s.stale_claim_threshold_min, s.max_per_second, s.burst, s.retry_backoff_ms,
       s.retry_backoff_max_ms, s.max_pause_s, s.sink_type, s.sink_url, s.sink_secrets,
       s.sink_timeout_ms, s.sink_concurrency, s.sink_workflow_type, s.sink_task_queue, s.sink_topic,
       s.smpp_host, s.smpp_port, s.smpp_system_id, s.smpp_password, s.smpp_system_type, s.smpp_source,
       s.smpp_source_ton, s.smpp_source_npi, s.smpp_receipts, s.sink_options,
       s.smpp_receipt_ids
  FROM penstock.dispatch_settings s
 WHERE s.item_type = $1::text
 ORDER BY s.version DESC
 LIMIT $2::bigint
