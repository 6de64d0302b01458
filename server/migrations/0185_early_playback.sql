-- Whether long videos may be played while the rest of them is processed.
alter table organization add column early_playback boolean not null default false;
