-- Who a person is at a provider of single sign-on. The subject stays when an address changes; of one
-- provider, a person has one subject.
create table person_identity (
  issuer text not null,
  subject text not null,
  person_id text not null references person,
  created_at timestamptz not null default now(),
  primary key (issuer, subject),
  unique (person_id, issuer)
);

-- Sign-ins that were sent to the provider and have not come back. Each comes back once.
create table single_sign_on_start (
  token_hash bytea primary key,
  expires_at timestamptz not null
);
create index single_sign_on_start_by_expiry on single_sign_on_start (expires_at);
