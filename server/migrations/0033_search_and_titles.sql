-- Search folds accents and cuts words at every sign; titles sort by the rules of language.

-- The text as search reads it: letters without accents, other signs as spaces. The ranges name what
-- separates words, because character classes depend on the locale of the server.
create function content_search_fold(value text) returns text
language sql immutable parallel safe
return translate(
  replace(replace(replace(regexp_replace(
    normalize(
      regexp_replace(normalize(value collate "C", NFKD), '[\u0300-\u036f]', '', 'g'),
      NFKC
    ),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u2bff\u3000-\u3004\u3008-\u3020\u30fb\ufe00-\ufe6f\U0001f000-\U0001faff]+',
    ' ', 'g'
  ), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
  'øØłŁđĐħĦı', 'oOlLdDhHi'
);

-- An index cannot keep up with another meaning of its column, so both are made anew.
alter table content drop column search_text;

-- Every PostgreSQL that is built with ICU has it; elsewhere titles sort as the database does.
do $$
begin
  create collation content_title (provider = icu, locale = 'und-u-kn-true');
  alter table content alter column title type text collate content_title;
exception when feature_not_supported or undefined_object then
  raise notice 'PostgreSQL was built without ICU: titles sort by the collation of the database.';
end $$;

alter table content add column search_text tsvector not null generated always as (
  to_tsvector('simple', content_search_fold(
    (title collate "C") || ' ' || coalesce(description collate "C", '')
  ))
) stored;
create index content_by_search_text on content using gin (search_text);
