-- Caller: functions of this schema. Index: none. Locks: none. The database's clock in microseconds since the epoch.
CREATE FUNCTION epoch_us() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;
