-- The table of ThrottleX that docs/migration/throttlex.md reads.
CREATE DATABASE penstock;
USE penstock;
CREATE TABLE throttlex_policy (
  id BIGINT AUTO_INCREMENT PRIMARY KEY, policy_key VARCHAR(255) NOT NULL, type VARCHAR(50) NOT NULL, capacity BIGINT NOT NULL,
  refill_rate BIGINT NOT NULL, window_seconds BIGINT NOT NULL, UNIQUE INDEX idx_policy_key (policy_key)) ENGINE=InnoDB;
INSERT INTO throttlex_policy (policy_key, type, capacity, refill_rate, window_seconds) VALUES
  ('user-123', 'TOKEN_BUCKET', 100, 10, 60), ('192.0.2.1', 'SLIDING_WINDOW', 20, 0, 60);
