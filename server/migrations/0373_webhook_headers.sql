-- The headers of the latest attempt: { "request": { name: value } | null, "response": … | null }. Those
-- of earlier attempts are in `earlier_attempts`. JSON as text, because nothing looks inside.
alter table webhook_delivery add column headers json;
alter table webhook_delivery_log add column headers json;
