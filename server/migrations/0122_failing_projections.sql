-- Since when a projection has waited at a block that it cannot take; null while it goes on.
alter table projection add column failing_since timestamptz;
