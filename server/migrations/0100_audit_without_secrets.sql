-- The audit log held the values of custom headers and the query strings of URLs; new entries have
-- neither (platform/http/secret-fields.ts).

update audit_entry set changes = jsonb_set(changes, '{headers}', '"[secret]"')
  where action in ('createWebhook', 'updateWebhook') and jsonb_typeof(changes -> 'headers') = 'object';

-- Of a URL: what stands before its query string and fragment, and no credentials.
update audit_entry set changes = jsonb_set(changes, '{url}', to_jsonb(regexp_replace(
    regexp_replace(changes ->> 'url', '[?#].*$', ''), '^([A-Za-z]+:[/\\]*)?[^/\\]*@', '\1')))
  where action in ('createWebhook', 'updateWebhook') and jsonb_typeof(changes -> 'url') = 'string';

-- Items that were refused alone may hold anything, so their URLs are shown only where they are texts.
update audit_entry set changes = jsonb_set(changes, '{items}', (
    select jsonb_agg(
      case
        when jsonb_typeof(item -> 'sourceUrl') = 'string' then
          jsonb_set(item, '{sourceUrl}', to_jsonb(regexp_replace(
            regexp_replace(item ->> 'sourceUrl', '[?#].*$', ''), '^([A-Za-z]+:[/\\]*)?[^/\\]*@', '\1')))
        when jsonb_typeof(item) = 'object' then item - 'sourceUrl'
        else item
      end order by place)
    from jsonb_array_elements(changes -> 'items') with ordinality as items (item, place)))
  where action = 'importContent' and jsonb_typeof(changes -> 'items') = 'array'
    and changes -> 'items' <> '[]';
