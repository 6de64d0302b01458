-- The latest requests of each key. Their ids are in the order of their beginnings, byte by byte.

create table key_request (
  api_key_id text not null,
  request_id text collate "C" not null,
  method text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  -- Requests of the key about that time that are not here.
  left_out integer not null default 0,
  primary key (api_key_id, request_id)
);
