-- Caller: DeliveryStore::find_parts. Index: sms_part_message. Locks: none.
SELECT p.part, p.parts, p.state, p.state_us, p.detail FROM penstock.sms_part p
 WHERE p.message_id = $1::text AND p.message_id <> ''
 ORDER BY p.part, p.provider, p.reference
