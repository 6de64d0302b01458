-- [{ metric, margin }]: metrics that must not get worse by more than the margin, a share.
alter table experiment add column guardrails jsonb not null default '[]';
-- [{ metric, variant, at, lift, liftInterval }]: guardrails that were found to be harmed while it ran.
alter table experiment add column harms jsonb not null default '[]';
