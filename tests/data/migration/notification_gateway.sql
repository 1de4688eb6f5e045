-- The table of the Notification Gateway, as docs/migration/notification-gateway.md reads it.
CREATE TABLE PostgresEntity (
  userId integer PRIMARY KEY, rateLimit integer NOT NULL, timeWindow integer NOT NULL, currentCount integer NOT NULL,
  lastRefreshTime timestamptz NOT NULL);
INSERT INTO PostgresEntity VALUES (101, 10, 5, 7, now()), (102, 3, 1, 0, now());
