#!/bin/sh
# The whole life of each type of content, with curl. It stops at the first answer that is not expected.
#
#   URL=http://localhost:4000 SECRET_KEY=rf_sk_… PUBLISHABLE_KEY=rf_pk_… \
#     VIDEO=clip.mp4 IMAGE=picture.jpg [SOURCE_URL=https://…/clip.mp4] sh docs/content.sh
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call <expected status> <method> <path> [curl options …]: prints the body of the answer.
call() {
  expected=$1 method=$2 path=$3
  shift 3
  status=$(curl -sS -o "$work/body" -w '%{http_code}' -X "$method" \
    -H "Authorization: Bearer $SECRET_KEY" "$@" "$URL$path")
  if [ "$status" != "$expected" ]; then
    echo "$method $path answered $status instead of $expected: $(cat "$work/body")" >&2
    exit 1
  fi
  cat "$work/body"
}

# json <expected status> <method> <path> <body>
json() { call "$1" "$2" "$3" -H 'Content-Type: application/json' -d "$4"; }

# field <name>: the first value of a text field in the JSON that comes in.
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# media <expected status> <url>: fetches a file as a player would.
media() {
  status=$(curl -sS -o "$work/media" -w '%{http_code}' "$2")
  [ "$status" = "$1" ] || { echo "$2 answered $status instead of $1" >&2; exit 1; }
}

until_status() {
  for _ in $(seq 1800); do
    found=$(call 200 GET "/v1/content/$1" | field uploadStatus)
    [ "$found" = "$2" ] && return
    [ "$found" = error ] && break
    sleep 0.5
  done
  echo "The item $1 is $found instead of $2: $(call 200 GET "/v1/content/$1")" >&2
  exit 1
}

feed() { curl -sS -H "Authorization: Bearer $PUBLISHABLE_KEY" "$URL/v1/feed?limit=50"; }
in_feed() { feed | grep -q "\"id\":\"$1\"" || { echo "$1 is not in the feed" >&2; exit 1; }; }
not_in_feed() { if feed | grep -q "\"id\":\"$1\""; then echo "$1 is in the feed" >&2; exit 1; fi; }

echo 'A video in one request'
video=$(call 201 POST /v1/content/upload -F title='By form' -F tags=a,b -F "file=@$VIDEO" | field id)

echo 'A video in two steps: an item, then its bytes'
opened=$(json 201 POST /v1/content/upload '{"title":"By upload URL","tags":["a"]}')
second=$(echo "$opened" | field id)
curl -sS --fail -o /dev/null -T "$VIDEO" "$(echo "$opened" | field uploadUrl)"

echo 'A protected video in parts that resume: tus 1.0'
opened=$(json 201 POST /v1/content/upload '{"title":"By tus","protected":true}')
protected=$(echo "$opened" | field id)
upload=$(echo "$opened" | field uploadUrl)
size=$(wc -c <"$VIDEO" | tr -d ' ')
half=$((size / 2))
curl -sS --fail -o /dev/null -X POST -H 'Tus-Resumable: 1.0.0' -H "Upload-Length: $size" "$upload"
part() {
  curl -sS --fail -o /dev/null -X PATCH -H 'Tus-Resumable: 1.0.0' -H "Upload-Offset: $1" \
    -H 'Content-Type: application/offset+octet-stream' --data-binary "@$2" "$upload"
}
head -c "$half" "$VIDEO" >"$work/first"
tail -c "+$((half + 1))" "$VIDEO" >"$work/rest"
part 0 "$work/first"
offset=$(curl -sS --fail -I -H 'Tus-Resumable: 1.0.0' "$upload" | tr -d '\r' |
  sed -n 's/^[Uu]pload-[Oo]ffset: //p')
[ "$offset" = "$half" ] || { echo "The offset is $offset instead of $half" >&2; exit 1; }
part "$offset" "$work/rest"

if [ -n "${SOURCE_URL:-}" ]; then
  echo 'A video that the service fetches: once, however often it is asked'
  items="{\"items\":[{\"sourceUrl\":\"$SOURCE_URL\",\"title\":\"Fetched\",\"externalId\":\"row-1\"}]}"
  imported=$(json 201 POST /v1/content/import "$items" | field id)
  again=$(json 201 POST /v1/content/import "$items" | field id)
  [ "$imported" = "$again" ]
  until_status "$imported" ready
fi

until_status "$video" ready
until_status "$second" ready
until_status "$protected" ready
in_feed "$video"

echo 'Metadata, publication, schedule'
json 200 PATCH "/v1/content/$video" \
  '{"title":"A better title","section":"Docs","author":"Ada","customMetadata":{"mine":1}}' >/dev/null
json 200 PATCH "/v1/content/$video" '{"publishStatus":"unpublished"}' >/dev/null
not_in_feed "$video"
json 200 PATCH "/v1/content/$video" '{"publishStatus":"published","publishAt":"2099-01-01T00:00:00Z"}' >/dev/null
not_in_feed "$video"
json 200 PATCH "/v1/content/$video" '{"publishAt":null}' >/dev/null
in_feed "$video"

echo 'Captions: added, served, removed'
printf '1\n00:00:00,000 --> 00:00:01,500\nHello <i>there</i>\n' >"$work/en.srt"
track=$(call 201 POST "/v1/content/$video/captions" -F language=en -F "file=@$work/en.srt")
media 200 "$(echo "$track" | field url)"
grep -q 'Hello <i>there</i>' "$work/media"
media 200 "$(call 200 GET "/v1/content/$video" | field streamingUrl)"
grep -q 'TYPE=SUBTITLES' "$work/media"
call 200 GET "/v1/content/$video/captions" >/dev/null
call 200 DELETE "/v1/content/$video/captions/$(echo "$track" | field id)" >/dev/null

echo 'Protected playback: nothing without a token'
[ "$(call 200 GET "/v1/content/$protected" | field streamingUrl)" = '' ]
signed=$(call 200 POST "/v1/content/$protected/playback-token" | field streamingUrl)
media 200 "$signed"
media 403 "$(echo "$signed" | sed 's|/media/t/[^/]*/|/media/t/wrong-token/|')"

echo 'An image carousel: out of the feed until it has an image'
carousel=$(json 201 POST /v1/content \
  '{"contentType":"carousel","title":"Images","autoScrollInterval":3}' | field id)
not_in_feed "$carousel"
one=$(call 201 POST "/v1/content/$carousel/images" -F altText='One' -F "file=@$IMAGE")
two=$(call 201 POST "/v1/content/$carousel/images" -F altText='Two' -F "file=@$IMAGE" | field id)
media 200 "$(echo "$one" | field imageUrl)"
one=$(echo "$one" | field id)
in_feed "$carousel"
json 200 PUT "/v1/content/$carousel/images/order" "{\"imageIds\":[\"$two\",\"$one\"]}" >/dev/null
json 400 PUT "/v1/content/$carousel/images/order" "{\"imageIds\":[\"$two\"]}" >/dev/null
call 200 DELETE "/v1/content/$carousel/images/$two" >/dev/null

echo 'A video carousel: entries, their order, what they leave out'
list=$(json 201 POST /v1/content '{"contentType":"video_carousel","title":"Videos"}' | field id)
not_in_feed "$list"
entries=$(json 201 POST "/v1/content/$list/videos" "{\"contentIds\":[\"$video\",\"$second\"]}")
first=$(echo "$entries" | grep -o '"id":"[^"]*"' | sed -n 1p | cut -d '"' -f 4)
last=$(echo "$entries" | grep -o '"id":"[^"]*"' | sed -n 2p | cut -d '"' -f 4)
in_feed "$list"
json 200 PUT "/v1/content/$list/videos/order" "{\"entryIds\":[\"$last\",\"$first\"]}" >/dev/null
json 400 POST "/v1/content/$list/videos" "{\"contentIds\":[\"$video\"]}" >/dev/null
call 200 DELETE "/v1/content/$list/videos/$first" >/dev/null
json 200 PATCH "/v1/content/$second" '{"publishStatus":"unpublished"}' >/dev/null
not_in_feed "$list"

echo 'Archive, restore, delete for good'
call 200 DELETE "/v1/content/$video" >/dev/null
not_in_feed "$video"
call 404 GET "/v1/content/$video" >/dev/null
call 200 POST "/v1/content/$video/restore" >/dev/null
json 200 PATCH "/v1/content/$video" '{"publishStatus":"published"}' >/dev/null
in_feed "$video"
json 200 POST /v1/content/bulk/delete \
  "{\"ids\":[\"$video\",\"$second\",\"$protected\",\"$carousel\",\"$list\"]}" >/dev/null
call 404 GET "/v1/content/$video" >/dev/null
not_in_feed "$carousel"
echo 'Done.'
