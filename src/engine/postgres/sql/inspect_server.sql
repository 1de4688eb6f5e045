-- Caller: inspect. Index: none. Locks: none. Works before the schema is there.
SELECT current_user::text,
       current_setting('fsync'),
       current_setting('full_page_writes'),
       current_setting('synchronous_commit'),
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
       (SELECT sum(d.numbackends) FROM pg_stat_database d)::bigint,
       (SELECT r.rolconnlimit FROM pg_roles r WHERE r.rolname = current_user),
       pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
