-- Caller: QuotaLedger::state. Index: none, it is one row. Locks: none. Answers the database's time too.
SELECT c.epoch, c.is_open, c.is_settled, c.token, penstock.epoch_us() FROM penstock.gateway_cache c
