-- Caller: PaymentRuleStore::revision. Index: payment_rules_pkey. Locks: none.
SELECT r.revision FROM penstock.payment_rules r ORDER BY r.revision DESC LIMIT 1
