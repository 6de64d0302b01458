-- A thumbnail that was chosen: a moment of the video, or an uploaded image. Its files are an asset; the
-- moment is there from the request on, the asset once the picture is made.
alter table asset drop constraint asset_kind_check;
alter table asset add constraint asset_kind_check
  check (kind in ('image', 'caption', 'preview', 'storyboard', 'download', 'cover'));
alter table content add column thumbnail_time double precision;
