-- Accounts of people, what they are in which organization, and their sessions. An account belongs to no
-- organization: a membership says what the person may do in one.

create table person (
  person_id text primary key,
  -- In lower case, so that each address has one account.
  email text not null unique,
  name text not null,
  -- A PHC string of Argon2id; null for those who sign in by single sign-on alone.
  password_hash text,
  -- The shared secret of time-based codes, sealed; null without a second factor.
  totp_secret bytea,
  -- The time step of the last code that was accepted: a code works once.
  totp_last_step int8 not null default 0,
  -- A secret whose code was not given back yet.
  totp_pending bytea,
  -- SHA-256 of each recovery code that is left.
  recovery_hashes bytea[] not null default '{}',
  created_at timestamptz not null default now(),
  signed_in_at timestamptz
);

create table membership (
  organization_id text not null references organization,
  person_id text not null references person,
  role text not null check (role in ('viewer', 'analyst', 'editor', 'admin', 'owner')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, person_id)
);
create index membership_by_person on membership (person_id, organization_id);
create index membership_by_time on membership (organization_id, created_at, person_id);

-- An invitation exists until it is accepted, withdrawn or over. There is one for each address.
create table invitation (
  invitation_id text primary key,
  organization_id text not null references organization,
  email text not null,
  role text not null check (role in ('viewer', 'analyst', 'editor', 'admin', 'owner')),
  token_hash bytea not null unique,
  -- The token for the mail, sealed.
  token_sealed bytea not null,
  -- The key or the person that invited; null for the command line.
  invited_by text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  unique (organization_id, email)
);
create index invitation_by_time on invitation (organization_id, created_at, invitation_id);
create index invitation_by_expiry on invitation (expires_at);

create table person_session (
  session_id text primary key,
  token_hash bytea not null unique,
  person_id text not null references person,
  -- The organization that the session works in; another one of the person by choice.
  organization_id text not null references organization,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz not null default now(),
  -- Moves on with use, and never beyond `ends_at`.
  expires_at timestamptz not null,
  ends_at timestamptz not null
);
create index person_session_by_person on person_session (person_id, created_at);
create index person_session_by_organization on person_session (organization_id, created_at, session_id);
create index person_session_by_expiry on person_session (expires_at);

-- A link that sets a new password, at most one for a person.
create table password_reset (
  person_id text primary key references person,
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

-- The moments of the latest attempts under a name, such as an address or an account.
create table attempt (
  name text primary key,
  moments timestamptz[] not null,
  last_at timestamptz not null
);
create index attempt_by_age on attempt (last_at);

-- Changes by people name the person; `api_key_id` stays the key.
alter table audit_entry add column person_id text;
alter table audit_entry drop constraint audit_entry_actor_check;
alter table audit_entry add constraint audit_entry_actor_check
  check (actor in ('key', 'person', 'command_line', 'service'));
