-- The fields that a change has changed, with their values before and after it; see
-- features/audit/differences.ts. Null: older entries, resources that are not compared, or no difference.

alter table audit_entry add column differences jsonb;
