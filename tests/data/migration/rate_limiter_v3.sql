-- The tables of the Payments Rate Limiter V3, as docs/migration/rate-limiter-v3.md reads them.
CREATE TABLE RL_EVENT_WNDW_CONFIG (
  RL_WNDW_CONFIG_ID varchar(50) PRIMARY KEY, WNDW_CONFIG_NM varchar(128), WNDW_MAX_EVENT_CT numeric(10),
  WNDW_SIZE_ISO_DUR_TX varchar(25), CONFIG_EFF_STRT_DT timestamp, ACT_IN numeric(1), CREAT_TS timestamp DEFAULT now());
CREATE TABLE RL_EVENT_SLOT_DTL (
  WNDW_SLOT_ID varchar(50) PRIMARY KEY, EVENT_ID varchar(50) UNIQUE, REQ_TS timestamp, WNDW_STRT_TS timestamp,
  COMPUTED_SCHED_TS timestamp, RL_WNDW_CONFIG_ID varchar(50), CREAT_TS timestamp DEFAULT now());
INSERT INTO RL_EVENT_WNDW_CONFIG VALUES
  ('c-0', 'default', 50, 'PT4S', '2025-01-01', 0), ('c-1', 'default', 100, 'PT4S', '2025-02-01', 1),
  ('c-2', 'urgent', 10, 'PT1S', '2025-02-01', 1);
INSERT INTO RL_EVENT_SLOT_DTL VALUES
  ('s-0', 'pay-1', '2025-03-01 12:00:00', '2025-03-01 12:00:00', '2025-03-01 12:00:01.5', 'c-0'),
  ('s-1', 'pay-123', '2200-06-01 12:00:00', '2200-06-01 12:00:00', '2200-06-01 12:00:02.371', 'c-1'),
  ('s-2', 'pay-124', '2200-06-01 12:00:00', '2200-06-01 12:00:04', '2200-06-01 12:00:07.9', 'c-0'),
  ('s-3', 'pay-125', '2200-06-01 12:00:01', '2200-06-01 12:00:01', '2200-06-01 12:00:01.25', 'c-2');
