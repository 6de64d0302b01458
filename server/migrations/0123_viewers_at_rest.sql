-- Viewers whose encounters have not been folded since they did something last.
create index feed_viewer_unfolded on feed_viewer (last_at) where recent <> '';
