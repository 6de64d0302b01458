-- Sessions of the console. A cookie counts only while its session is here, so signing out ends it on the
-- server. The cookies of the version before name no session: whoever has one signs in once more.
create table console_session (
  session_id text primary key,
  organization_id text not null references organization,
  api_key_id text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index console_session_by_key on console_session (organization_id, api_key_id, created_at);
create index console_session_by_expiry on console_session (expires_at);
