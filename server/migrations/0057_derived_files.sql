-- Files made from a video beside its stream. Their folders lie in that of the attempt that made them,
-- so they come and go with it.
alter table asset drop constraint asset_kind_check;
alter table asset add constraint asset_kind_check
  check (kind in ('image', 'caption', 'preview', 'storyboard', 'download'));
-- The ThumbHash of the thumbnails in base64; null for items whose only thumbnail is one JPEG.
alter table content add column thumbnail_hash text;
