-- Caller: inspect. Index: those of the catalogue. Locks: none. What the role lacks of the block of grants
-- in docs/postgres.md, which a test holds against this list. Tables that are not there yet lack nothing.
WITH space AS (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'penstock'),
written (name, rights) AS (VALUES
    ('slot_pool', 'INSERT'), ('slot_config', 'INSERT'), ('slot_reservation_floor', 'UPDATE'),
    ('slot_window', 'INSERT,UPDATE,DELETE'), ('event_slot', 'INSERT,UPDATE,DELETE'),
    ('slot_reservation', 'INSERT,UPDATE,DELETE'),
    ('throttle_usage', 'INSERT,UPDATE,DELETE'), ('node_alive', 'INSERT,UPDATE,DELETE'),
    ('throttle_policy', 'INSERT'),
    ('dispatch_type', 'INSERT'), ('dispatch_settings', 'INSERT'),
    ('dispatch_audit', 'INSERT,DELETE'), ('dispatch_change', 'INSERT,DELETE'),
    ('dispatch_lease', 'INSERT,UPDATE'), ('dispatch_total', 'INSERT,UPDATE'),
    ('dispatch_item', 'INSERT,UPDATE,DELETE'), ('dispatch_queue', 'INSERT,UPDATE,DELETE'),
    ('dispatch_settled', 'INSERT,UPDATE,DELETE'), ('dispatch_dead', 'INSERT,UPDATE,DELETE'),
    ('payment', 'INSERT,DELETE'), ('payment_change', 'INSERT,DELETE'), ('payment_rules', 'INSERT'),
    ('gateway_quota', 'INSERT,UPDATE,DELETE'), ('gateway_key', 'INSERT,UPDATE,DELETE'),
    ('gateway_claim', 'INSERT,UPDATE,DELETE'), ('gateway_usage', 'INSERT,UPDATE,DELETE'),
    ('sms_part', 'INSERT,UPDATE,DELETE'), ('gateway_export', 'INSERT,UPDATE,DELETE'),
    ('gateway_attempt', 'INSERT,UPDATE,DELETE'),
    ('gateway_lease', 'INSERT,UPDATE,DELETE'), ('gateway_cache_node', 'INSERT,UPDATE,DELETE'),
    ('gateway_cache_doubt', 'INSERT,UPDATE,DELETE'), ('gateway_cache', 'UPDATE'),
    ('retention_progress', 'UPDATE')),
changed (name, part) AS (VALUES
    ('slot_config', 'active'), ('slot_pool', 'returned'), ('throttle_policy', 'newest'),
    ('throttle_policy_revision', 'revision'), ('dispatch_settings_revision', 'revision'),
    ('payment', 'payment_no')),
object AS (SELECT c.oid, c.relname::text AS name, c.relkind FROM pg_class c JOIN space s ON c.relnamespace = s.oid),
lacking (privilege, name) AS (
    SELECT 'USAGE', '' FROM space s WHERE NOT has_schema_privilege(s.oid, 'USAGE')
    UNION ALL
    SELECT 'SELECT', o.name FROM object o
     WHERE o.relkind IN ('r', 'p') AND NOT has_table_privilege(o.oid, 'SELECT')
    UNION ALL
    SELECT r.one, o.name
      FROM written w JOIN object o USING (name) CROSS JOIN unnest(string_to_array(w.rights, ',')) AS r (one)
     WHERE NOT has_table_privilege(o.oid, r.one)
    UNION ALL
    SELECT 'UPDATE (' || p.part || ')', o.name
      FROM changed p JOIN object o USING (name) JOIN pg_attribute a ON a.attrelid = o.oid AND a.attname = p.part
     WHERE NOT has_column_privilege(o.oid, a.attnum, 'UPDATE')
    UNION ALL
    SELECT 'USAGE', o.name FROM object o
     WHERE o.name IN ('dispatch_batch', 'dispatch_item_no', 'payment_no')
       AND CASE WHEN o.relkind = 'S' THEN NOT has_sequence_privilege(o.oid, 'USAGE') END)
SELECT l.privilege, l.name,
       EXISTS (SELECT FROM object o WHERE o.name = l.name AND o.relkind = 'S')
  FROM lacking l ORDER BY l.name, l.privilege
