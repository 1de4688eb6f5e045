-- Caller: penstock migrate. Locks: dispatch_settings, for a moment.
-- How receipts write what answers call a message: 0 as these do, 1 in decimal where they are in hex, 2 the other way round.
ALTER TABLE dispatch_settings ADD COLUMN smpp_receipt_ids bigint NOT NULL DEFAULT 0
  CONSTRAINT dispatch_settings_receipt_ids CHECK (smpp_receipt_ids BETWEEN 0 AND 2);
