-- Caller: PaymentRuleStore::put. Index: payment_rules_pkey. Locks: the new row. Two at once: the later one is
-- refused by the key and repeated. $2 null = database clock. Answers revision and time.
INSERT INTO penstock.payment_rules (revision, changed_us, rules)
SELECT 1 + coalesce((SELECT r.revision FROM penstock.payment_rules r
                      ORDER BY r.revision DESC LIMIT 1), 0),
       coalesce($2::bigint, penstock.epoch_us()), $1::bytea
RETURNING revision, changed_us
