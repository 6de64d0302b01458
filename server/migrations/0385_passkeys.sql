-- Passkeys of people (WebAuthn): public keys, by the ids that authenticators gave them.
create table passkey (
  passkey_id text primary key,
  person_id text not null references person,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkey_by_person on passkey (person_id, created_at);

-- Ceremonies that were begun and have not ended, by the hash of the token that their browser holds. Each ends
-- once. Those that make a passkey belong to a session, the others to nobody yet.
create table passkey_ceremony (
  token_hash bytea primary key,
  session_id text,
  expires_at timestamptz not null
);
create index passkey_ceremony_by_expiry on passkey_ceremony (expires_at);
