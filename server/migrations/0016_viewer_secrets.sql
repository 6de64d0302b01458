-- What viewers' ids are hashed with before statistics keep them, so that nobody who sees the hashes can
-- find out whose they are by trying ids. The default gives every organization its own.
alter table organization add column viewer_secret bytea not null
  default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
