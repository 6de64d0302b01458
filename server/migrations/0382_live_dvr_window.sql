-- How far back viewers of a broadcast can go, in seconds.

alter table live_stream add column dvr_window_seconds integer not null default 0;
