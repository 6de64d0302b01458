-- Chinese and Japanese are written without spaces: search finds a word inside such text by pairs of
-- neighbouring signs. Plain text search does it, so no extension is needed.

-- Each sign of a run with the one behind it; the last sign stands alone.
create function content_search_pairs(run text) returns text
language sql immutable parallel safe
return (
  select string_agg(signs[at] || coalesce(signs[at + 1], ''), ' ' order by at)
  from string_to_array(run, null) as signs, generate_subscripts(signs, 1) as at
);

-- The words of a text as search reads it: folded, and runs of Han, Hiragana and Katakana as pairs.
create function content_search_words(value text) returns text
language sql immutable parallel safe
return (
  select case
    when folded !~ '[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]'
    then folded
    else (
      select string_agg(
        case when part[1] is null then part[2] else content_search_pairs(part[1]) end,
        ' ' order by place
      )
      from regexp_matches(
        folded,
        '([\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)|([^\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)',
        'g'
      ) with ordinality as parts (part, place)
    )
  end
  from content_search_fold(value) as folded
);

-- What a search asks for: each word as the beginning of a word, a run of such signs as its pairs, one
-- behind the other. Null where the search has no word.
create function content_search_query(search text) returns tsquery
language sql immutable parallel safe
return (
  select to_tsquery('simple', string_agg(condition, ' & '))
  from (
    select case
      when part[1] is null then '''' || part[2] || ''':*'
      when length(part[1]) = 1 then '''' || part[1] || ''':*'
      else (
        select string_agg('''' || pair || '''', ' <-> ' order by at)
        from string_to_table(content_search_pairs(part[1]), ' ') with ordinality as pairs (pair, at)
        where length(pair) = 2
      )
    end as condition
    from regexp_matches(
      content_search_fold(search),
      '([\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)|([^ \u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)',
      'g'
    ) as part
  ) as conditions
);

-- An index cannot keep up with another meaning of its column, so both are made anew.
alter table content drop column search_text;
alter table content add column search_text tsvector not null generated always as (
  to_tsvector('simple', content_search_words(
    (title collate "C") || ' ' || coalesce(description collate "C", '')
  ))
) stored;
create index content_by_search_text on content using gin (search_text);
