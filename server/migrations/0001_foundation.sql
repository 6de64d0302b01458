-- Organizations, keys, content, uploads and the job queue.
-- Every key starts with organization_id, so that organizations can be spread over databases.

create table organization (
  organization_id text primary key,
  name text not null,
  auto_publish boolean not null default true,
  default_protected boolean not null default false,
  allowed_origins text[] not null default '{}',
  created_at timestamptz not null default now()
);

-- Keys are 256 random bits, so a plain SHA-256 is enough to store and fast to check.
create table api_key (
  organization_id text not null references organization,
  api_key_id text not null,
  type text not null check (type in ('secret', 'publishable')),
  name text not null,
  prefix text not null,
  hash bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (organization_id, api_key_id),
  constraint api_key_hash_unique unique (hash)
);

-- Keys that sign cursors and playback tokens: one for all processes of a cluster.
create table signing_key (
  name text primary key,
  secret bytea not null,
  created_at timestamptz not null default now()
);

-- Answers to requests that carried an Idempotency-Key, written in the transaction of their effect.
-- The body is encrypted: some answers hold a secret that is shown once.
create table idempotent_request (
  organization_id text not null references organization,
  idempotency_key text not null,
  fingerprint bytea not null,
  status_code integer not null,
  headers jsonb not null,
  body bytea not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, idempotency_key)
);
create index idempotent_request_by_age on idempotent_request (created_at);

create table content (
  organization_id text not null references organization,
  content_id uuid not null,
  -- A short number for feed cursors, which carry hundreds of items.
  serial_number bigint not null generated always as identity,
  content_type text not null
    check (content_type in ('video', 'carousel', 'video_carousel', 'live_stream')),
  title text not null,
  description text,
  upload_status text not null default 'pending'
    check (upload_status in ('pending', 'processing', 'ready', 'error')),
  publish_status text not null default 'unpublished'
    check (publish_status in ('published', 'unpublished')),
  visibility text not null default 'public'
    check (visibility in ('public', 'unlisted', 'private')),
  section text,
  author text,
  tags text[] not null default '{}',
  publish_at timestamptz,
  expires_at timestamptz,
  duration_seconds double precision,
  protected boolean not null default false,
  custom_metadata jsonb not null default '{}',
  width integer,
  height integer,
  aspect_ratio text,
  max_frame_rate double precision,
  video_quality text check (video_quality in ('basic', 'plus')),
  resolution_tier text check (resolution_tier in ('audio-only', 'SD', 'HD', 'FHD', 'UHD')),
  auto_scroll_interval_seconds double precision,
  article_url text,
  external_id text,
  error_code text,
  error_message text,
  progress real not null default 0,
  -- The random first segment of every public media path of this item.
  playback_id text not null,
  -- The published folder of the media files; null until the first rendition is published.
  media_prefix text,
  has_thumbnail boolean not null default false,
  -- The storage key of the original bytes; null until they have all arrived.
  source_key text,
  source_format text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived_at timestamptz,
  -- Counts the changes that a client can see; the ETag is made from it.
  revision bigint not null default 1,
  -- The transaction that wrote this version of the row. Feed indexes tail the table by it.
  changed_xid xid8 not null default pg_current_xact_id(),
  search_text tsvector not null generated always as
    (to_tsvector('simple', title || ' ' || coalesce(description, ''))) stored,
  primary key (organization_id, content_id),
  constraint content_playback_id_unique unique (playback_id),
  constraint content_serial_number_unique unique (organization_id, serial_number),
  constraint content_schedule check (expires_at is null or publish_at is null or publish_at < expires_at)
);
create unique index content_external_id_unique on content (organization_id, external_id)
  where external_id is not null;
-- The usual list; being partial, it also counts the list without touching the rows.
create index content_by_creation on content (organization_id, created_at, content_id)
  where archived_at is null;
create index content_by_update on content (organization_id, updated_at, content_id);
create index content_by_title on content (organization_id, title, content_id);
create index content_by_tag on content using gin (tags);
create index content_by_search_text on content using gin (search_text);
create index content_by_change on content (changed_xid, serial_number);
-- What a feed index loads at its first use.
create index content_in_feed on content (organization_id)
  where upload_status = 'ready' and publish_status = 'published' and visibility = 'public'
    and archived_at is null;
create index content_archived on content (archived_at) where archived_at is not null;

-- No writer can forget it: each version of a row names the transaction that made it.
create function content_stamp_change() returns trigger language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
create trigger content_stamp_change before update on content
  for each row execute function content_stamp_change();

-- An upload URL that was handed out. The URL holds the token; only its hash is kept.
create table upload_session (
  organization_id text not null,
  upload_session_id text not null,
  content_id uuid not null,
  token_hash bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  completed_at timestamptz,
  primary key (organization_id, upload_session_id),
  constraint upload_session_token_unique unique (token_hash),
  foreign key (organization_id, content_id) references content on delete cascade
);
create index upload_session_open on upload_session (expires_at) where completed_at is null;
create index upload_session_by_content on upload_session (organization_id, content_id);

-- What the media engine remembers between the first rendition, which makes an item ready, and the
-- others. The row goes when all renditions are published.
create table media_preparation (
  organization_id text not null,
  content_id uuid not null,
  media_prefix text not null,
  prepared jsonb not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, content_id),
  foreign key (organization_id, content_id) references content on delete cascade
);
