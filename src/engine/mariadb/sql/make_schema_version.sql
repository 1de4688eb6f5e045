-- Caller: migrate. Index: none. Locks: none.
CREATE TABLE IF NOT EXISTS penstock_schema_version (
  version INT NOT NULL PRIMARY KEY,
  name VARCHAR(255) NOT NULL,
  applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4
