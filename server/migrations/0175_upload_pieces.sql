-- Bytes of a resumable upload count while they arrive: the request that writes is named, so that one
-- that was overtaken can name no more bytes.
alter table upload_session add column writer text;

-- Parallel uploads: the parts of an upload that arrive on their own (`concatenation` of tus), and what
-- the upload was joined from.
alter table upload_session
  add column whole_session_id text,
  add column upload_concat text,
  add foreign key (organization_id, whole_session_id)
    references upload_session (organization_id, upload_session_id) on delete cascade;
create index upload_session_partials on upload_session (organization_id, whole_session_id)
  where whole_session_id is not null;
