-- The total of a list is counted again after each change. This index is small, because few
-- combinations of its columns exist, and answers without looking at the items.
create index content_by_state on content
  (organization_id, content_type, publish_status, upload_status, visibility)
  where archived_at is null;
