-- A segment of a rung without files is a gap that is announced: the rung is not made at the moment.
alter table live_rung_segment
  alter column file_name drop not null,
  alter column header_name drop not null,
  alter column size_bytes drop not null;
