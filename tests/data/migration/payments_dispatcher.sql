-- The tables of the Payments Dispatcher, as docs/migration/payments-dispatcher.md reads them.
CREATE TABLE PAYMENT_EXEC_QUEUE (
  payment_id varchar(64) PRIMARY KEY, item_type varchar(32), queue_status varchar(16), scheduled_exec_time timestamp,
  claimed_at timestamp, retry_count numeric DEFAULT 0);
CREATE TABLE PAYMENT_EXEC_CONTEXT (payment_id varchar(64) PRIMARY KEY, item_type varchar(32), context_json text, context_version numeric);
INSERT INTO PAYMENT_EXEC_QUEUE VALUES
  ('pay-0', 'PAYMENT', 'DISPATCHED', '2025-06-01 16:00:00', NULL, 0), ('pay-1', 'PAYMENT', 'READY', '2200-06-01 16:00:00', NULL, 0),
  ('pay-2', 'PAYMENT', 'READY', '2200-06-01 16:00:05', NULL, 5), ('inv-1', 'INVOICE', 'READY', '2200-06-01 16:00:00', NULL, 0);
INSERT INTO PAYMENT_EXEC_CONTEXT VALUES
  ('pay-0', 'PAYMENT', '{}', 1), ('pay-1', 'PAYMENT', '{"amount": "12.50"}', 1), ('pay-2', 'PAYMENT', '{"amount": "99.00"}', 1),
  ('inv-1', 'INVOICE', '{}', 1);
