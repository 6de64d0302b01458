-- Reports list and filter by known labels only; what else clients have sent is counted as `other`. The
-- expressions are those of features/events/labels.ts.
create function pg_temp.known_label(measure text, label text) returns boolean language sql immutable
return case
  when measure = 'startup' or label = '' then true
  when measure = 'source' then label ~ '^(?:feed|search|direct|share|other)$'
  when measure = 'codec' then
    label ~* '^(?:h\.?26[3456]|avc[1-4]?|hevc|hvc1|hev1|vvc1?|dvh1|dvhe|av1|av01|vp8|vp9|vp08|vp09|theora|prores|mpeg-?[24]|mp4v|mp4a|aac|opus|mp3|flac|vorbis|e?-?ac-?3)$'
    or label ~* '^(?:avc[1-4]\.[\da-f]{6}|(?:hvc1|hev1|dvh1|dvhe|vvc1)(?:\.[\da-z]{1,8}){2,10}|av01(?:\.[\da-z]{1,4}){3,9}|vp0[89](?:\.\d{2}){3,8}|mp4[av]\.[\da-f]{2}(?:\.\d{1,3})?)(?:, ?(?:mp4a\.[\da-f]{2}(?:\.\d{1,2})?|opus|ac-3|ec-3|flac))?$'
  when measure = 'error' then
    label ~* '^(?:-?\d{1,4}|-\d{5}|network|decode|media|timeout|aborted|offline|drm|unsupported|stalled|unknown)$'
    or label ~ '^(?:[A-Z]+\d{0,4}(?:_(?:[A-Z]+\d{0,4}|\d{1,4}))*|[A-Za-z]*(?:Error|Exception|Time[Oo]ut|Failed|Failure|Aborted)|[a-z]+(?:[-_.][a-z]+)*[-_.](?:error|exception|timeout|failed|failure|aborted))$'
  else
    label ~* '^(?:(?:144|180|216|234|240|270|288|320|360|396|400|404|416|432|450|468|480|486|504|540|544|576|600|640|648|720|768|800|832|900|960|1080|1152|1200|1280|1440|1600|1920|2160|2880|3840|4320)(?:p(?:24|25|30|48|50|60|90|100|120)?)?|auto|source|original|low|medium|high|sd|hd|fhd|qhd|uhd|[248]k)$'
    or label ~ '^\d{2,4}x\d{2,4}$'
end;

create temporary table relabelled on commit drop as
select organization_id, grain, period, measure,
  case when pg_temp.known_label(measure, label) then label else 'other' end as label,
  sum(count)::bigint as count, sum(total)::bigint as total
from quality_counter group by 1, 2, 3, 4, 5;
truncate quality_counter;
insert into quality_counter (organization_id, grain, period, measure, label, count, total)
select organization_id, grain, period, measure, label, count, total from relabelled;

-- Facts know entry points and versions by the hashes of their labels, of which the few known ones need no
-- table.
drop table if exists fact_label;

-- States know unknown labels, and sessions by hashes that could be guessed. Views and sessions that were
-- going on begin anew.
truncate view_state_a, view_state_b, session_state_a, session_state_b;
update projection set revision = revision + 1 where name in ('engagement', 'quality');
