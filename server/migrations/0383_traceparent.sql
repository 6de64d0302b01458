-- The span that a job or a delivery belongs to, by W3C Trace Context; null without traces.

alter table job add column traceparent text;
alter table webhook_delivery add column traceparent text;
