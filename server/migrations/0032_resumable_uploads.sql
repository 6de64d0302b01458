-- An upload by tus: its whole length, null before it was created, and the parts that have arrived,
-- each the key and the size of a stored file, in their order.
alter table upload_session add column upload_length bigint;
alter table upload_session add column parts jsonb not null default '[]';
