-- Caller: PaymentRuleStore::get. Index: payment_rules_pkey. Locks: none.
SELECT r.revision, r.changed_us, r.rules FROM penstock.payment_rules r
 ORDER BY r.revision DESC LIMIT 1
