-- The tables of the Payments Rate Limiter V1, as docs/migration/rate-limiter-v1.md reads them.
CREATE TABLE rate_limit_config (
  id numeric PRIMARY KEY, config_name varchar(100), max_per_window numeric, window_size_secs numeric, is_active numeric(1));
CREATE TABLE rate_limit_event_slot (
  id numeric PRIMARY KEY, event_id varchar(100) UNIQUE, window_start timestamp, scheduled_time timestamp,
  created_at timestamp DEFAULT now());
INSERT INTO rate_limit_config VALUES (1, 'default', 50, 4, 0), (2, 'default', 100, 4, 1);
INSERT INTO rate_limit_event_slot VALUES
  (1, 'pay-1', '2025-03-01 12:00:00', '2025-03-01 12:00:01.5'), (2, 'pay-2', '2200-06-01 12:00:00', '2200-06-01 12:00:03');
