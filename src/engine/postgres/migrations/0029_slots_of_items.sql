-- Caller: penstock migrate. Locks: the queue and event_slot against those who write them, while the waiting
-- items are read once.
-- Slots that dispatch takes for its items have event ids of their own: a space, then
-- `{itemType}:{itemId}`. Ids from outside have no space, so no public event is ever an item's.
LOCK TABLE dispatch_queue, event_slot IN SHARE ROW EXCLUSIVE MODE;

-- Those of items that wait. A slot and its item were written in one step: that tells them from a
-- public event of the same id.
UPDATE event_slot s SET event_id = ' ' || s.event_id
  FROM dispatch_queue q
  JOIN dispatch_type t USING (type_id)
  JOIN dispatch_item i USING (type_id, item_id)
 WHERE s.event_id = t.name || ':' || q.item_id
   AND s.created_us = i.created_us AND s.scheduled_ms * 1000 = i.scheduled_us;

CREATE OR REPLACE VIEW event_slot_readable AS
  SELECT ltrim(s.event_id, ' ') AS event_id, c.name AS config, c.version AS config_version,
         to_timestamp(s.requested_ms / 1000.0) AS requested,
         to_timestamp(s.window_start_ms / 1000.0) AS window_start,
         to_timestamp(s.scheduled_ms / 1000.0) AS scheduled,
         to_timestamp(s.created_us / 1000000.0) AS created,
         (ARRAY['ASSIGNED', 'CONFIRMED', 'RELEASED', 'EXPIRED'])[s.status + 1] AS status,
         to_timestamp(s.confirm_by_us / 1000000.0) AS confirm_by,
         CASE WHEN starts_with(s.event_id, ' ') THEN 'dispatch' END AS owner
    FROM event_slot s JOIN slot_config c USING (config_id);
