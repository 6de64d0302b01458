-- The number of all deliveries that a webhook ever had, beside those that have ended; kept in the
-- row of the day '-infinity'.
alter table webhook_delivery_count add column made bigint not null default 0;

-- Deliveries that were made and are not in webhook_delivery_count yet. Counting them there in the
-- transaction that causes an event would make all such transactions of an organization wait for
-- each other; a row that is only added makes nobody wait. A chore moves them over.
create table webhook_arrival (
  organization_id text not null,
  webhook_id text not null,
  deliveries integer not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

insert into webhook_arrival (organization_id, webhook_id, deliveries)
select organization_id, webhook_id, sum(deliveries)::integer from (
  select organization_id, webhook_id, count(*) as deliveries
  from webhook_delivery group by organization_id, webhook_id
  union all
  select organization_id, webhook_id, sum(successful + failed)
  from webhook_delivery_count group by organization_id, webhook_id
) as made group by organization_id, webhook_id;
