-- Caller: penstock migrate. Locks: creates new tables only. DDL commits by itself here, so that every
-- statement may run a second time after one that broke off.

-- The usage of throttle keys, one row for each key in use. `record` is what store/limits/limit_record.h
-- writes; an empty one only holds the place, so that a new key can be locked. From `idle_at_us` on
-- (microseconds since the epoch) the row says nothing any more and may go. Every batch writes it
-- anew, so nothing but the key is indexed.
CREATE TABLE IF NOT EXISTS throttle_usage (
  throttle_key VARBINARY(512) NOT NULL PRIMARY KEY,
  idle_at_us BIGINT NOT NULL,
  record MEDIUMBLOB NOT NULL
) ENGINE = InnoDB;

-- All versions of all policies; the newest of a key is in force unless it is an end (deleted). `document` is
-- what people set, as core/policy/policy.h describes it; a text, since MySQL's JSON would round a rate.
CREATE TABLE IF NOT EXISTS throttle_policy (
  policy_key VARBINARY(512) NOT NULL,
  version BIGINT NOT NULL,
  policy_id BIGINT NOT NULL,
  changed_us BIGINT NOT NULL,
  deleted BOOLEAN NOT NULL,
  newest BOOLEAN NOT NULL,
  document MEDIUMTEXT NOT NULL,
  PRIMARY KEY (policy_key, version),
  INDEX throttle_policy_newest (newest, policy_key)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- One row. Every change of a policy locks it first: changes come one after the other.
CREATE TABLE IF NOT EXISTS throttle_policy_revision (
  one TINYINT NOT NULL PRIMARY KEY,
  revision BIGINT NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO throttle_policy_revision (one, revision) VALUES (1, 0);

-- When each node that shares this database last said that it is alive.
CREATE TABLE IF NOT EXISTS node_alive (
  node VARBINARY(512) NOT NULL PRIMARY KEY,
  seen_at_us BIGINT NOT NULL
) ENGINE = InnoDB;
