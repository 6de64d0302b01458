-- An erasure that a restore has found in the records of erasures and not in the backup: its viewer's id is
-- still to be looked for. See features/events/erasure/replay.ts.
alter table erasure add column is_replay boolean not null default false;
